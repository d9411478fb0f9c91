using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Changes a dictionary, see <see cref="TermTree"/>. If terms come in ascending order, every block is read and written once.
/// Reusable for one dictionary after another: <see cref="Begin"/>, changes, <see cref="Flush"/>. Invariants:
/// 1. The loaded block covers the terms from its key up to, but without, the end key.
/// 2. <c>made</c> ascends, and its terms are before <c>old[next]</c>.
/// 3. Only a loaded block has changes.
/// </summary>
/// <param name="weight">Weight of a term by its value; null if terms have none. The same for every write of a dictionary.</param>
internal sealed class TermTreeWriter(TermWeight? weight = null)
{
    /// <summary>Most items whose memory is kept for the next block.</summary>
    private const int KeepItems = 1 << 16;

    /// <summary>Below this size, a block that lost terms is merged with the next.</summary>
    private const int MinBytes = TermBlock.MaxBytes / 4;

    private Tree tree = null!; // Begin sets tree and cursor before any change
    private Cursor cursor = null!;
    private readonly TermBlockEdit edit = new(weight);
    private readonly ByteArena bytes = new();
    private readonly TermBlockEncoder encoder = new(weight);

    /// <summary>Terms of a block that is being rebuilt; those from <see cref="next"/> on are not yet in
    /// <see cref="made"/>.</summary>
    private readonly List<TermItem> old = [];

    /// <summary>Terms of the rebuilt block up to the last one looked up.</summary>
    private readonly List<TermItem> made = [];

    private readonly byte[] blockKey = new byte[Tree.MaxKeyBytes];
    private readonly byte[] endKey = new byte[Tree.MaxKeyBytes];
    private byte[] termRoom = new byte[64];
    private byte[] lastTerm = new byte[64];
    private int lastTermLength;
    private int blockKeyLength;
    private int endKeyLength;
    private int next;
    private bool isLoaded;
    private bool isStored;

    /// <summary>Whether the block is rebuilt term by term, because it is new or a term lacks its prefix or suffix.</summary>
    private bool isAnew;
    private bool isChanged;
    private bool hasLost;

    /// <summary>
    /// Of the last term looked up: whether it exists, and whether it was changed, after which only greater terms can be found.
    /// </summary>
    private bool isThere;
    private bool isPassed;
    private long countChange;

    /// <summary>A writer for a single dictionary.</summary>
    public TermTreeWriter(Tree tree, TermWeight? weight = null)
        : this(weight) => Begin(tree);

    /// <summary>Number of terms.</summary>
    public long Count => TermTree.ReadCount(tree) + countChange;

    private bool HasEnd => endKeyLength > 0;

    /// <summary>Switches to another dictionary; discards changes of the previous one that were not flushed.</summary>
    public void Begin(Tree dictionary)
    {
        tree = dictionary;
        cursor = dictionary.OpenCursor();
        isChanged = false;
        countChange = 0;
        Leave();
    }

    /// <summary>Finds the value of a term; valid until another block is loaded.</summary>
    public bool TryGet(scoped ReadOnlySpan<byte> term, out ReadOnlySpan<byte> value)
    {
        value = default;
        if (!Find(term))
            return false;
        value = isAnew ? bytes.Slice(old[next].Value, old[next].ValueLength) : edit.Value;
        return true;
    }

    /// <summary>Sets the value of a term.</summary>
    public void Put(scoped ReadOnlySpan<byte> term, scoped ReadOnlySpan<byte> value)
    {
        bool isKnown = Find(term);
        countChange += isKnown ? 0 : 1;
        isChanged = isPassed = true;
        if (!isAnew && isKnown)
        {
            edit.Replace(value);
            return;
        }

        if (!isAnew && edit.TryAdd(term, value))
            return;
        if (!isAnew)
        {
            BeginAnew();
            Walk(term);
        }

        if (isKnown)
            next++;
        Debug.Assert(made.Count == 0 || Key(made[^1]).SequenceCompareTo(term) < 0, "2: made terms ascend");
        Debug.Assert(next == old.Count || term.SequenceCompareTo(Key(old[next])) < 0, "2: made terms are before the old ones");
        int key = bytes.Add(term);
        made.Add(new TermItem(key, term.Length, bytes.Add(value), value.Length));
    }

    /// <summary>Removes a term; false if it is not there.</summary>
    public bool Delete(scoped ReadOnlySpan<byte> term)
    {
        if (!Find(term))
            return false;
        if (isAnew)
            next++;
        else
            edit.Remove();
        countChange--;
        isChanged = hasLost = isPassed = true;
        return true;
    }

    /// <summary>Writes all remaining changes.</summary>
    public void Flush()
    {
        Leave();
        if (countChange == 0)
            return;
        long count = Count;
        countChange = 0;
        if (count == 0)
        {
            tree.Delete(TermTree.CountKey);
            return;
        }

        Span<byte> value = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(value, count);
        tree.Put(TermTree.CountKey, value);
    }

    /// <summary>Moves to the place of a term; returns whether it exists.</summary>
    private bool Find(scoped ReadOnlySpan<byte> term)
    {
        if (isLoaded)
        {
            int order = term.SequenceCompareTo(lastTerm.AsSpan(0, lastTermLength));
            if (order == 0 && !isPassed)
                return isThere;
            if (order <= 0 || (HasEnd && term.SequenceCompareTo(endKey.AsSpan(1, endKeyLength - 1)) >= 0))
                Leave(); // before the last change, or after the block
        }

        if (!isLoaded)
            Load(term);
        Debug.Assert(
            term.SequenceCompareTo(blockKey.AsSpan(1, blockKeyLength - 1)) >= 0
                && (!HasEnd || term.SequenceCompareTo(endKey.AsSpan(1, endKeyLength - 1)) < 0),
            "1: the loaded block covers the term");
        if (lastTerm.Length < term.Length)
            lastTerm = new byte[term.Length * 2];
        term.CopyTo(lastTerm);
        lastTermLength = term.Length;
        isPassed = false;
        return isThere = isAnew ? Walk(term) : edit.Find(term);
    }

    /// <summary>Moves to the place of a term in a block that is being rebuilt.</summary>
    private bool Walk(scoped ReadOnlySpan<byte> term)
    {
        for (; next < old.Count; next++)
        {
            int order = Key(old[next]).SequenceCompareTo(term);
            if (order >= 0)
                return order == 0;
            made.Add(old[next]);
        }

        return false;
    }

    /// <summary>Starts to rebuild the block from its current terms.</summary>
    private void BeginAnew()
    {
        Debug.Assert(!isAnew && old.Count == 0 && made.Count == 0, "2: a block is taken apart once");
        edit.CopyTo(old, bytes);
        isAnew = true;
    }

    private ReadOnlySpan<byte> Key(TermItem item) => bytes.Slice(item.Key, item.KeyLength);

    /// <summary>Reads the block that covers a term.</summary>
    private void Load(scoped ReadOnlySpan<byte> term)
    {
        if (termRoom.Length < term.Length + 2)
            termRoom = new byte[term.Length * 2];
        termRoom[0] = TermTree.BlockMark;
        term.CopyTo(termRoom.AsSpan(1));
        termRoom[term.Length + 1] = 0;
        isLoaded = true;
        isStored = cursor.SeekBefore(termRoom.AsSpan(0, term.Length + 2)) && cursor.Key[0] == TermTree.BlockMark;
        if (isStored)
        {
            blockKeyLength = Copy(cursor.Key, blockKey);
            edit.Begin(cursor.Value);
            endKeyLength = cursor.MoveNext() ? Copy(cursor.Key, endKey) : 0;
            return;
        }

        // Before all existing blocks: a new block, up to the first.
        isAnew = true;
        blockKey[0] = TermTree.BlockMark;
        blockKeyLength = 1;
        endKeyLength = cursor.Seek([TermTree.BlockMark]) ? Copy(cursor.Key, endKey) : 0;
    }

    private static int Copy(ReadOnlySpan<byte> from, Span<byte> to)
    {
        from.CopyTo(to);
        return from.Length;
    }

    /// <summary>Writes the block, split if it has grown too long, and unloads it.</summary>
    private void Leave()
    {
        Debug.Assert(!isChanged || isLoaded, "3: only a loaded block has changes");
        if (isChanged)
            Store();
        Clear(old);
        Clear(made);
        bytes.Clear(1 << 20);
        next = 0;
        isLoaded = isAnew = isChanged = hasLost = false;
    }

    private static void Clear(List<TermItem> items)
    {
        items.Clear();
        if (items.Capacity > KeepItems)
            items.Capacity = 0;
    }

    private void Store()
    {
        if (!isAnew)
        {
            int length = edit.Bytes;
            bool isLong = length > TermBlock.MaxBytes && edit.Count > 1;
            if (edit.Count > 0 && !isLong && (!hasLost || !HasEnd || length >= MinBytes))
            {
                tree.Put(blockKey.AsSpan(0, blockKeyLength), edit.Finish());
                return;
            }

            BeginAnew();
        }

        for (; next < old.Count; next++)
            made.Add(old[next]);
        if (hasLost && HasEnd && TermBlockEncoder.Measure(made, bytes) < MinBytes)
            Join();
        if (made.Count == 0)
        {
            if (isStored)
                tree.Delete(blockKey.AsSpan(0, blockKeyLength));
            return;
        }

        int wanted = TermBlock.MaxBytes;
        ReadOnlySpan<byte> encoded = encoder.Encode(made, 0, wanted, bytes, out int count);
        if (count < made.Count && HasEnd)
        {
            // Terms are mostly appended to the last block, but inserted into others: split those evenly, so that each part
            // has free space.
            int total = TermBlockEncoder.Measure(made, bytes);
            wanted = 1 + (total / Math.Max(2, (total + TermBlock.MaxBytes - 1) / TermBlock.MaxBytes));
            encoded = encoder.Encode(made, 0, wanted, bytes, out count);
        }

        tree.Put(blockKey.AsSpan(0, blockKeyLength), encoded);
        for (int first = count; first < made.Count; first += count)
        {
            ReadOnlySpan<byte> before = Key(made[first - 1]), key = Key(made[first]);
            int length = key.CommonPrefixLength(before) + 1;
            endKey[0] = TermTree.BlockMark;
            key[..length].CopyTo(endKey.AsSpan(1));
            tree.Put(endKey.AsSpan(0, length + 1), encoder.Encode(made, first, wanted, bytes, out count));
        }
    }

    /// <summary>Merges the terms of the next block into this one.</summary>
    private void Join()
    {
        ReadOnlySpan<byte> key = endKey.AsSpan(0, endKeyLength);
        if (!tree.TryGet(key, out ReadOnlySpan<byte> value))
            return;
        edit.Begin(value);
        edit.CopyTo(made, bytes);
        tree.Delete(key);
        Debug.Assert(made.Count > 0, "a block has terms");
    }
}

/// <summary>A term to be written and its value, in an arena.</summary>
/// <param name="Key">Where the term begins.</param>
/// <param name="KeyLength">Its length in bytes.</param>
/// <param name="Value">Where its value begins.</param>
/// <param name="ValueLength">Length of the value in bytes.</param>
internal readonly record struct TermItem(int Key, int KeyLength, int Value, int ValueLength);
