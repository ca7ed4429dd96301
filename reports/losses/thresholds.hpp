// Limits of what is said of losses, as shares of the run time.
#pragma once

namespace ardoise::reports {

// Severity of a loss by its ceiling; below kMentionedLoss it is not a finding.
inline constexpr double kHighLoss = 0.1, kMediumLoss = 0.04, kMentionedLoss = 0.02;

// A smaller part of the critical path is not looked at.
inline constexpr double kMeaningful = 0.005;

// Samples of a program; fewer are not judged.
inline constexpr double kFewestSamples = 50;

// A rank with this part of something has nearly all of it.
inline constexpr double kOfOneRank = 0.8;

}  // namespace ardoise::reports
