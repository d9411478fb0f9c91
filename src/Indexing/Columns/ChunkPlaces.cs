using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Catalogue;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Reads chunks of a column by number, in any order, and caches the locations of recent ones, because matches of a rare word
/// are spread over the column and a tree descent for each would cost more than the rest of their processing. Valid for one
/// state of the index; one thread at a time.
/// </summary>
/// <param name="column">The column; null if it has no chunks.</param>
/// <remarks>Memory: 40 bytes for each of at most 1,024 chunks, which cover 29 million entries, and half a kibibyte.</remarks>
internal sealed class ChunkPlaces(Tree? column)
{
    private const int FirstPlaces = 64;
    private const int MaxPlaces = 1_024;

    /// <summary>
    /// Binary logarithm of the number of chunks that are read ahead from disk together if they are not in memory: a mebibyte
    /// of lengths.
    /// </summary>
    private const int ReadAheadBits = 5;

    /// <summary>Number of groups remembered as requested; more than one, because windows are not visited in order.</summary>
    private const int ReadAheadGroups = 64;

    private Known[] _known = [];
    private long[] _requested = [];
    private bool _isRequested;

    /// <summary>Returns the bytes of the chunk; empty if there is none. Valid as long as the read transaction.</summary>
    public ReadOnlySpan<byte> Read(long chunk)
    {
        Known[] places = _known;
        if (places.Length > 0)
        {
            ref readonly Known place = ref places[(int)chunk & (places.Length - 1)];
            if (place.Chunk == chunk + 1)
                return column!.ReadAt(place.Place); // a cached place comes from the column
        }

        return Find(chunk);
    }

    /// <summary>
    /// Makes the operating system start reading all chunks that are not in memory, for callers that will read most of them
    /// later. Waits only for their locations.
    /// </summary>
    public void ReadAhead()
    {
        if (_isRequested || column is null)
            return;
        _isRequested = true;
        long groups = (column.Count >> ReadAheadBits) + 1;
        for (long group = 0; group < Math.Min(groups, ReadAheadGroups); group++)
            ReadAhead(column, group);
    }

    /// <summary>Number of chunks.</summary>
    public long Count => column?.Count ?? 0;

    /// <summary>Counts one page visit for a chunk, whether its location was cached or not.</summary>
    public void Visit() => column?.Visit(1);

    private ReadOnlySpan<byte> Find(long chunk)
    {
        Debug.Assert(chunk >= 0, "chunks are numbered from 0");
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        if (column is null)
            return default;

        ReadAhead(column, chunk >> ReadAheadBits);
        EntryKey.Write(key, chunk);
        if (!column.TryLocate(key, out ValuePlace place))
            return default;

        if (_known.Length == 0)
            _known = new Known[Math.Clamp(
                (int)BitOperations.RoundUpToPowerOf2((uint)Math.Min(column.Count, MaxPlaces)), FirstPlaces, MaxPlaces)];
        Debug.Assert(BitOperations.IsPow2(_known.Length) && _known.Length <= MaxPlaces, "slots are a bounded power of 2");
        _known[(int)chunk & (_known.Length - 1)] = new Known(chunk + 1, place);
        return column.ReadAt(place);
    }

    private void ReadAhead(Tree chunks, long group)
    {
        if (_requested.Length == 0)
            _requested = new long[ReadAheadGroups];
        ref long last = ref _requested[(int)group & (ReadAheadGroups - 1)];
        if (last == group + 1)
            return;
        last = group + 1;
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, group << ReadAheadBits);
        chunks.AnnounceRuns(key, 1 << ReadAheadBits);
    }

    /// <summary>The location of a chunk.</summary>
    /// <param name="Chunk">Its number + 1; 0 if the slot is free.</param>
    /// <param name="Place">Where it is.</param>
    private readonly record struct Known(long Chunk, ValuePlace Place);
}
