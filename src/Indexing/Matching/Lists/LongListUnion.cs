using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Postings;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>
/// Long lists written into one bitmap of all windows, one after the other once all are known. A few segments are prefetched
/// before the one being read, from the same list or the next.
/// </summary>
/// <param name="context">The query.</param>
internal sealed class LongListUnion(QueryContext context)
{
    /// <summary>
    /// Number of segments prefetched at a time. A segment of a list with some entries in each window takes 2 to 4 KiB.
    /// </summary>
    private const int Ahead = 4;

    private readonly List<(Tree Postings, long ListId)> _lists = [];
    private readonly HeldBytes[] _expected = new HeldBytes[Ahead];
    private int _found;
    private int _read;

    public void Add(Tree postings, long listId) => _lists.Add((postings, listId));

    /// <summary>Sets the bits of all entries of the lists.</summary>
    public void CopyTo(Span<ulong> bits)
    {
        Debug.Assert(_read == _found, "lists are copied once all are known");
        Span<byte> key = stackalloc byte[sizeof(long)];
        Cursor? cursor = null;
        Tree? tree = null;
        foreach ((Tree postings, long listId) in _lists)
        {
            if (postings != tree)
                cursor = (tree = postings).OpenCursor();
            BinaryPrimitives.WriteInt64BigEndian(key, listId);
            // the cursor is opened together with its tree
            for (bool more = cursor!.Seek(key) && cursor.IsAt(key, out _); more; more = cursor.MoveNext(key, out _))
            {
                context.Check();
                LeafEntries segments = cursor.TakeEntries(key);
                for (int i = 0; i < segments.Count; i++)
                    Expect(segments.ValueOf(i), bits);
            }
        }

        while (_read < _found)
            ReadNext(bits);
    }

    private void Expect(ReadOnlySpan<byte> segment, Span<ulong> bits)
    {
        if (_found - _read == Ahead)
            ReadNext(bits);
        new PostingSegment(segment).Prefetch();
        _expected[_found++ % Ahead] = new HeldBytes(segment);
    }

    private void ReadNext(Span<ulong> bits)
    {
        Debug.Assert(_read < _found && _found - _read <= Ahead, "a prefetched segment is left");
        var segment = new PostingSegment(_expected[_read++ % Ahead].Span);
        context.Meter.Count.BlocksDecoded++;
        context.Meter.Count.BytesDecoded += segment.Payloads.Length;
        segment.CopyTo(bits);
    }
}
