using Treepie.Bench.Micro;

namespace Treepie.Bench.Tests;

/// <summary>Every micro-benchmark still runs: once, in this process, without a measurement.</summary>
public class MicroBenchmarkTests
{
    public static TheoryData<string> Classes => [.. Rehearsal.Classes.Select(benchmarks => benchmarks.FullName!)];

    [Theory]
    [MemberData(nameof(Classes))]
    public void Each_method_of_a_class_of_benchmarks_runs_with_each_parameter(string name) =>
        Assert.NotEmpty(Rehearsal.Run(Rehearsal.Classes.Single(benchmarks => benchmarks.FullName == name)));
}
