! Marks that a Fortran program sets for the profile over time. ardoise.h, for C, has the details.
! Compile it with the program: gfortran -c ardoise.F90
!
!   use ardoise
!   do step = 1, steps
!     call ardoise_phase_begin("solve")
!     call ardoise_value("residual", residual)
!     call ardoise_phase_end("solve")
!     call ardoise_snapshot("step", step)
!   end do
module ardoise
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: ardoise_snapshot, ardoise_phase_begin, ardoise_phase_end, ardoise_value

  interface ardoise_snapshot
    module procedure snapshot_4, snapshot_8
  end interface
  interface ardoise_value
    module procedure value_4, value_8
  end interface

  abstract interface
    subroutine mark_function(kind, name, number, x) bind(c)
      import :: c_int, c_char, c_long_long, c_double
      integer(c_int), value :: kind
      character(kind=c_char), intent(in) :: name(*)
      integer(c_long_long), value :: number
      real(c_double), value :: x
    end subroutine
  end interface
  interface
    function dlsym(handle, symbol) bind(c, name="dlsym")
      import :: c_ptr, c_char, c_funptr
      type(c_ptr), value :: handle  ! null: RTLD_DEFAULT
      character(kind=c_char), intent(in) :: symbol(*)
      type(c_funptr) :: dlsym
    end function
  end interface

  logical, save :: is_looked_for = .false.
  procedure(mark_function), pointer, save :: found => null()

contains

  subroutine mark(kind, name, number, x)
    integer, intent(in) :: kind
    character(len=*), intent(in) :: name
    integer(c_long_long), intent(in) :: number
    real(c_double), intent(in) :: x
    type(c_funptr) :: symbol
    if (.not. is_looked_for) then
      symbol = dlsym(c_null_ptr, "ardoise_mark" // c_null_char)
      if (c_associated(symbol)) call c_f_procpointer(symbol, found)
      is_looked_for = .true.
    end if
    if (associated(found)) call found(int(kind, c_int), trim(name) // c_null_char, number, x)
  end subroutine

  subroutine snapshot_4(name, number)
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: number
    call mark(1, name, int(number, c_long_long), 0.0_c_double)
  end subroutine
  subroutine snapshot_8(name, number)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: number
    call mark(1, name, int(number, c_long_long), 0.0_c_double)
  end subroutine

  subroutine ardoise_phase_begin(name)
    character(len=*), intent(in) :: name
    call mark(2, name, 0_c_long_long, 0.0_c_double)
  end subroutine
  subroutine ardoise_phase_end(name)
    character(len=*), intent(in) :: name
    call mark(3, name, 0_c_long_long, 0.0_c_double)
  end subroutine

  subroutine value_4(name, x)
    character(len=*), intent(in) :: name
    real(c_float), intent(in) :: x
    call mark(4, name, 0_c_long_long, real(x, c_double))
  end subroutine
  subroutine value_8(name, x)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: x
    call mark(4, name, 0_c_long_long, x)
  end subroutine
end module
