using System.Buffers.Binary;
using System.Text;
using Treepie.Indexes.States;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Statistics of mapping since an index was built or its errors were cleared: whether so many documents fail that the index
/// is of little use, and whether documents have very many results. Only committed batches count. Thread-safe.
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
    private readonly MapTally _total = new();

    /// <summary>The number of documents that were mapped, and how many of these could not be.</summary>
    public (long Attempts, long Errors) Maps
    {
        get
        {
            lock (_lock)
                return (_total.Attempts, _total.Errors);
        }
    }

    /// <summary>Loads the stored counters of the map and the reduce.</summary>
    public void Read(Tree? tree, ReduceCounters reduces)
    {
        if (tree is null || !tree.TryGet(_key, out ReadOnlySpan<byte> value) || value.Length < HeaderBytes)
            return;
        lock (_lock)
            _total.Set(
                BinaryPrimitives.ReadInt64BigEndian(value), BinaryPrimitives.ReadInt64BigEndian(value[8..]),
                BinaryPrimitives.ReadInt32BigEndian(value[32..]), Encoding.UTF8.GetString(value[HeaderBytes..]));
        reduces.Reduces = BinaryPrimitives.ReadInt64BigEndian(value[16..]);
        reduces.Errors = BinaryPrimitives.ReadInt64BigEndian(value[24..]);
    }

    /// <summary>
    /// Stores the counters as they will be once the batch is committed, in the transaction of the entries they count.
    /// </summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="batch">What the map did for the batch.</param>
    /// <param name="reduces">The calls of the reduce, with those for the batch.</param>
    /// <param name="reduceErrors">How many of these failed.</param>
    public void Write(WriteTransaction transaction, MapTally batch, long reduces = 0, long reduceErrors = 0)
    {
        var total = new MapTally();
        lock (_lock)
            total.Add(_total);
        total.Add(batch);
        byte[] value = [.. new byte[HeaderBytes], .. Encoding.UTF8.GetBytes(total.MostResultsOf)];
        BinaryPrimitives.WriteInt64BigEndian(value, total.Attempts);
        BinaryPrimitives.WriteInt64BigEndian(value.AsSpan(8), total.Errors);
        BinaryPrimitives.WriteInt64BigEndian(value.AsSpan(16), reduces);
        BinaryPrimitives.WriteInt64BigEndian(value.AsSpan(24), reduceErrors);
        BinaryPrimitives.WriteInt32BigEndian(value.AsSpan(32), total.MostResults);
        transaction.GetOrCreateTree(TreeName).Put(_key, value);
    }

    /// <summary>Adds what the map did for a batch that was committed.</summary>
    public void Add(MapTally batch)
    {
        lock (_lock)
            _total.Add(batch);
    }

    /// <summary>Resets the counters.</summary>
    public void Clear()
    {
        lock (_lock)
            _total.Clear();
    }

    /// <summary>Returns a message if more than 15 % of at least 100 attempts have failed; otherwise null.</summary>
    public string? Failing(string index, ReduceCounters reduces)
    {
        (long maps, long mapErrors) = Maps;
        return IsFailing(maps, mapErrors)
            ? $"The map of index '{index}' has failed for {mapErrors:N0} of {maps:N0} documents: most of what is looked for may "
                + $"be missing. See indexes/errors."
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
            if (_total.MostResults > 0)
                warnings.Add(
                    $"Index '{index}' has {_total.MostResults:N0} entries of document '{_total.MostResultsOf}'; more than "
                        + $"{ManyResults:N0} of one document make each of its changes slow.");
        }

        return warnings;
    }

    private static bool IsFailing(long attempts, long errors) =>
        attempts >= LeastAttempts && errors * 100 > attempts * MostFailingPercent;
}
