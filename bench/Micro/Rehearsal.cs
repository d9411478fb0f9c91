using System.Reflection;
using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Parameters;
using BenchmarkDotNet.Running;

namespace Treepie.Bench.Micro;

/// <summary>Runs benchmarks once in this process, without measuring: a test proves with it that they still work.</summary>
public static class Rehearsal
{
    /// <summary>All classes of benchmarks, by name.</summary>
    public static IReadOnlyList<Type> Classes { get; } =
    [
        .. typeof(Rehearsal).Assembly.GetTypes()
            .Where(type => type.GetMethods().Any(method => method.IsDefined(typeof(BenchmarkAttribute))))
            .OrderBy(type => type.FullName, StringComparer.Ordinal)
    ];

    /// <summary>
    /// Runs each method of a class with each of its parameters, with its setup before and its cleanup after it. Returns what each
    /// returned.
    /// </summary>
    /// <param name="benchmarks">One of <see cref="Classes"/>.</param>
    public static IReadOnlyList<(string Name, object? Result)> Run(Type benchmarks)
    {
        ArgumentNullException.ThrowIfNull(benchmarks);
        BenchmarkRunInfo cases = BenchmarkConverter.TypeToBenchmarks(benchmarks);
        return [.. cases.BenchmarksCases.Select(one => (one.DisplayInfo, Run(one)))];
    }

    private static object? Run(BenchmarkCase one)
    {
        Descriptor descriptor = one.Descriptor;
        object instance = Activator.CreateInstance(descriptor.Type)!;
        foreach (ParameterInstance parameter in one.Parameters.Items)
            descriptor.Type.GetProperty(parameter.Name)!.SetValue(instance, parameter.Value);
        descriptor.GlobalSetupMethod?.Invoke(instance, null);
        object? result = descriptor.WorkloadMethod.Invoke(instance, null);
        descriptor.GlobalCleanupMethod?.Invoke(instance, null);
        return result;
    }
}
