using System.Buffers.Binary;
using System.Text;
using Treepie.Indexes.States;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Statistics of mapping since an index was built or its errors were cleared: whether so many documents fail that the index
/// is of little use, and whether documents have very many results. Thread-safe.
/// </summary>
internal sealed class MapCounters
{
    /// <summary>The number of results of one document above which a warning is given.</summary>
    public const int ManyResults = 1_024;

    /// <summary>
    /// The tree of an index in which the counters are stored, under one key: attempts and errors of its maps, attempts and
    /// errors of its reduce (8 bytes each), the maximum number of results of a document (4), all big-endian, and the id of
    /// that document.
    /// </summary>
    public const string TreeName = "computed.counters";

    private const int HeaderBytes = 36;

    private const int LeastAttempts = 100;
    private const int MostFailingPercent = 15;

    private static readonly byte[] _key = "counters"u8.ToArray();

    private readonly Lock _lock = new();
    private long _attempts;
    private long _errors;
    private int _mostResults;
    private string _mostResultsOf = "";

    /// <summary>Loads the stored counters of the map and the reduce.</summary>
    public void Read(Tree? tree, ReduceCounters reduces)
    {
        if (tree is null || !tree.TryGet(_key, out ReadOnlySpan<byte> value) || value.Length < HeaderBytes)
            return;
        _attempts = BinaryPrimitives.ReadInt64BigEndian(value);
        _errors = BinaryPrimitives.ReadInt64BigEndian(value[8..]);
        reduces.Reduces = BinaryPrimitives.ReadInt64BigEndian(value[16..]);
        reduces.Errors = BinaryPrimitives.ReadInt64BigEndian(value[24..]);
        _mostResults = BinaryPrimitives.ReadInt32BigEndian(value[32..]);
        _mostResultsOf = Encoding.UTF8.GetString(value[HeaderBytes..]);
    }

    /// <summary>Stores the counters of the map and the reduce, in the transaction of the entries they count.</summary>
    public void Write(WriteTransaction transaction, ReduceCounters reduces)
    {
        byte[] value;
        lock (_lock)
        {
            value = [.. new byte[HeaderBytes], .. Encoding.UTF8.GetBytes(_mostResultsOf)];
            BinaryPrimitives.WriteInt32BigEndian(value.AsSpan(32), _mostResults);
        }

        BinaryPrimitives.WriteInt64BigEndian(value, Interlocked.Read(ref _attempts));
        BinaryPrimitives.WriteInt64BigEndian(value.AsSpan(8), Interlocked.Read(ref _errors));
        BinaryPrimitives.WriteInt64BigEndian(value.AsSpan(16), reduces.Reduces);
        BinaryPrimitives.WriteInt64BigEndian(value.AsSpan(24), reduces.Errors);
        transaction.GetOrCreateTree(TreeName).Put(_key, value);
    }

    /// <summary>Counts a document that was mapped to the given number of results.</summary>
    public void Succeeded(int results, ReadOnlySpan<byte> id)
    {
        Interlocked.Increment(ref _attempts);
        if (results <= Math.Max(ManyResults, Volatile.Read(ref _mostResults)))
            return;
        lock (_lock)
        {
            if (results > _mostResults)
                (_mostResults, _mostResultsOf) = (results, Encoding.UTF8.GetString(id));
        }
    }

    /// <summary>Counts a document that could not be mapped.</summary>
    public void Failed()
    {
        Interlocked.Increment(ref _attempts);
        Interlocked.Increment(ref _errors);
    }

    /// <summary>Resets the counters.</summary>
    public void Clear()
    {
        lock (_lock)
        {
            (_mostResults, _mostResultsOf) = (0, "");
            Interlocked.Exchange(ref _errors, 0);
            Interlocked.Exchange(ref _attempts, 0);
        }
    }

    /// <summary>Returns a message if more than 15 % of at least 100 attempts have failed; otherwise null.</summary>
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

    /// <summary>Returns the warnings for the results of the index.</summary>
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
