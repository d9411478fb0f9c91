namespace Treepie.Bench.Measuring;

/// <summary>A set of measurements that answers one question.</summary>
internal interface ISuite
{
    /// <summary>Its name on the command line.</summary>
    string Name { get; }

    /// <summary>What is asked, how it is measured, and what the peers do alike.</summary>
    string Question { get; }

    /// <summary>Measures. The quick form proves only that the suite still runs.</summary>
    Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken);
}
