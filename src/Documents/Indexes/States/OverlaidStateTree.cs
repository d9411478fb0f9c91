using Treepie.Storage.Trees;

namespace Treepie.Indexes.States;

/// <summary>
/// A tree of the state as seen by a reader, overlaid with changes in memory: for one query that must not be stale.
/// </summary>
internal sealed class OverlaidStateTree(Tree? tree) : StateTree
{
    private readonly SortedDictionary<byte[], byte[]?> _changes = new(ByteOrder.Instance);
    private byte[][]? _order;

    public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        if (_changes.TryGetValue(key.ToArray(), out byte[]? changed))
        {
            value = changed;
            return changed is not null;
        }

        value = default;
        return tree is not null && tree.TryGet(key, out value);
    }

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => Change(key, value.ToArray());

    public override void Delete(ReadOnlySpan<byte> key) => Change(key, null);

    public override void Scan(ReadOnlySpan<byte> from, StateVisitor isWanted)
    {
        // Scans follow all changes, so the keys are sorted once.
        byte[][] order = _order ??= [.. _changes.Keys];
        int first = Array.BinarySearch(order, from.ToArray(), ByteOrder.Instance);
        using Cursor? cursor = tree?.OpenCursor();
        bool isBelow = cursor is not null && cursor.Seek(from);
        foreach (byte[] key in order.AsSpan(first < 0 ? ~first : first))
        {
            byte[]? value = _changes[key];
            // The cursor is at a key, so it is not null.
            for (; isBelow && cursor!.Key.SequenceCompareTo(key) < 0; isBelow = cursor.MoveNext())
                if (!isWanted(cursor.Key, cursor.Value))
                    return;
            if (isBelow && cursor!.Key.SequenceEqual(key)) // as above
                isBelow = cursor.MoveNext();
            if (value is not null && !isWanted(key, value))
                return;
        }

        while (isBelow && isWanted(cursor!.Key, cursor.Value)) // as above
            isBelow = cursor.MoveNext();
    }

    private void Change(ReadOnlySpan<byte> key, byte[]? value)
    {
        _changes[key.ToArray()] = value;
        _order = null;
    }

    private sealed class ByteOrder : IComparer<byte[]>
    {
        public static readonly ByteOrder Instance = new();

        public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
    }
}
