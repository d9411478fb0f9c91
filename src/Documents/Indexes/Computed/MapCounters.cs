using Treepie.Indexes.Reducing;

namespace Treepie.Indexes.Computed;

/// <summary>
/// How mapping has gone since an index was opened, or its errors were cleared: whether so much fails that the index is of little
/// use, and whether documents give very many results. Thread-safe.
/// </summary>
internal sealed class MapCounters
{
    /// <summary>Results of one document above which a warning is given.</summary>
    public const int ManyResults = 1_024;

    private const int LeastAttempts = 100;
    private const int MostFailingPercent = 15;

    private readonly Lock _lock = new();
    private long _attempts;
    private long _errors;
    private int _mostResults;
    private string _mostResultsOf = "";

    /// <summary>A document was mapped to so many results.</summary>
    public void Succeeded(int results, ReadOnlySpan<byte> id)
    {
        Interlocked.Increment(ref _attempts);
        if (results <= Math.Max(ManyResults, Volatile.Read(ref _mostResults)))
            return;
        lock (_lock)
        {
            if (results > _mostResults)
                (_mostResults, _mostResultsOf) = (results, System.Text.Encoding.UTF8.GetString(id));
        }
    }

    /// <summary>A document could not be mapped.</summary>
    public void Failed()
    {
        Interlocked.Increment(ref _attempts);
        Interlocked.Increment(ref _errors);
    }

    /// <summary>Forgets what was.</summary>
    public void Clear()
    {
        lock (_lock)
        {
            (_mostResults, _mostResultsOf) = (0, "");
            Interlocked.Exchange(ref _errors, 0);
            Interlocked.Exchange(ref _attempts, 0);
        }
    }

    /// <summary>Says that more than 15 % of 100 or more attempts have failed; null while they have not.</summary>
    public string? Failing(string index, ReduceCounters reduces)
    {
        long maps = Interlocked.Read(ref _attempts), mapErrors = Interlocked.Read(ref _errors);
        return IsFailing(maps, mapErrors)
            ? $"The map of index '{index}' has failed for {mapErrors:N0} of {maps:N0} documents: most of what is looked for may "
            + $"be "
                + $"missing. See indexes/errors."
            : IsFailing(reduces.Reduces, reduces.Errors)
                ? $"The reduce of index '{index}' has failed {reduces.Errors:N0} of {reduces.Reduces:N0} times: most of what is "
                    + $"looked for may be missing. See indexes/errors."
                : null;
    }

    /// <summary>What is said beside the answers of the index.</summary>
    public IReadOnlyList<string> Warnings(string index, ReduceCounters reduces)
    {
        var warnings = new List<string>();
        if (Failing(index, reduces) is { } failing)
            warnings.Add(failing);
        lock (_lock)
        {
            if (_mostResults > 0)
                warnings.Add(
                    $"Index '{index}' has {_mostResults:N0} entries of document '{_mostResultsOf}'; more than {ManyResults:N0} "
                    + $"of "
                        + $"one document make each of its changes slow.");
        }

        return warnings;
    }

    private static bool IsFailing(long attempts, long errors) =>
        attempts >= LeastAttempts && errors * 100 > attempts * MostFailingPercent;
}
