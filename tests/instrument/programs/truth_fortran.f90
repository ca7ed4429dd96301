! The part in Fortran: as many of the same instructions for each unit as truth_spin.h has.
subroutine truth_fortran(units) bind(c, name='truth_fortran')
  use iso_c_binding
  implicit none
  integer(c_int), intent(in) :: units
  integer(c_int64_t) :: x
  integer(c_long) :: i
  interface
    subroutine truth_opaque(x) bind(c, name='truth_opaque')
      use iso_c_binding
      integer(c_int64_t), intent(inout) :: x
    end subroutine
  end interface
  x = 88172645463325252_c_int64_t
  do i = 1, int(units, c_long) * 1000
    x = ieor(x, shiftl(x, 13))
    x = ieor(x, shiftr(x, 7))
    x = ieor(x, shiftl(x, 17))
  end do
  call truth_opaque(x)
end subroutine
