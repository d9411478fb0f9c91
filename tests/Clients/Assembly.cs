using Xunit.v3;

// Most tests here start servers and wait for them: two side by side keep a small machine busy. Those that measure, and those
// that build, have collections of their own.
[assembly: Parallelization(MaxThreads = 2)]
