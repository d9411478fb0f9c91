using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Changes one <see cref="TermBlock"/> in ascending order of terms. The bytes between two changes are copied unread, so the cost
/// depends on the changes, not on the terms. A term without the block's prefix and suffix is refused; the caller must then
/// rebuild the block from its terms (<see cref="CopyTo"/>). Reusable for one block after another. Invariants:
/// 1. Changes come in ascending order of terms: index and place never decrease.
/// 2. copied ≤ place ≤ sourceBytes: the source before <c>copied</c> is in the cells, or was removed.
/// 3. Known groups start at ascending places.
/// 4. Replace and Remove follow a Find that returned true.
/// </summary>
/// <param name="weight">Weight of a term by its value; null if terms have none.</param>
internal sealed class TermBlockEdit(TermWeight? weight)
{
    private byte[] source = new byte[TermBlock.MaxBytes];
    private byte[] cells = new byte[2 * TermBlock.MaxBytes];
    private byte[] output = new byte[2 * TermBlock.MaxBytes];

    /// <summary>Start of each group but the first; the first <see cref="knownGroups"/> are known.</summary>
    private ushort[] groups = new ushort[(TermBlock.MaxBytes >> TermBlock.GroupBits) + 1];
    private int knownGroups;
    private int sourceBytes;
    private int cellBytes;

    /// <summary>End of the source cells that were copied or removed.</summary>
    private int copied;

    /// <summary>Bytes by which cells after the last change moved relative to the source.</summary>
    private int shift;

    /// <summary>The term found last, or the first one after it: index and place in the source, and the term.</summary>
    private int index;
    private int place;
    private TermPlace found;
    private int foundEnd;

    /// <summary>Whether terms were added or removed, which shifts later terms between groups.</summary>
    private bool isRenumbered;
    private long? weighs;

    /// <summary>Number of terms.</summary>
    public int Count { get; private set; }

    /// <summary>Length of the block in bytes with the changes so far.</summary>
    public int Bytes
    {
        get
        {
            TermBlock block = Source;
            return TermBlock.HeaderBytes + GroupBytes + block.Prefix.Length + block.Suffix.Length + cellBytes + sourceBytes
                - copied;
        }
    }

    /// <summary>The value of the term found; valid until the next <see cref="Begin"/>.</summary>
    public ReadOnlySpan<byte> Value => Source.Value(found);

    private TermBlock Source => new(source.AsSpan(0, sourceBytes));

    private int GroupBytes => Count == 0 ? 0 : sizeof(ushort) * ((Count - 1) >> TermBlock.GroupBits);

    /// <summary>Starts editing a block.</summary>
    public void Begin(ReadOnlySpan<byte> block)
    {
        if (source.Length < block.Length)
            source = new byte[Math.Max(block.Length, source.Length * 2)];
        block.CopyTo(source);
        sourceBytes = block.Length;
        TermBlock own = Source;
        Count = own.Count;
        weighs = own.Weight;
        copied = place = own.First;
        index = shift = cellBytes = knownGroups = 0;
        isRenumbered = false;
    }

    /// <summary>Finds a term, which must be after the previous one; returns whether it exists.</summary>
    public bool Find(scoped ReadOnlySpan<byte> term)
    {
        TermBlock block = Source;
        if (index == block.Count)
            return false;
        if (!term.StartsWith(block.Prefix))
        {
            if (term.SequenceCompareTo(block.Prefix) > 0)
                (index, place) = (block.Count, sourceBytes);
            return false;
        }

        term = term[block.Prefix.Length..];
        int current = index >> TermBlock.GroupBits, low = current, high = (block.Count - 1) >> TermBlock.GroupBits;
        while (low < high)
        {
            int middle = (low + high + 1) >> 1;
            block.Read(block.Group(middle), out TermPlace first);
            if (Compare(block, first, term) <= 0)
                low = middle;
            else
                high = middle - 1;
        }

        if (low > current)
            (index, place) = (low << TermBlock.GroupBits, block.Group(low));
        for (; index < block.Count; index++, place = foundEnd)
        {
            foundEnd = block.Read(place, out found);
            int order = Compare(block, found, term);
            if (order >= 0)
                return order == 0;
        }

        return false;
    }

    /// <summary>Replaces the value of the term found and moves past it.</summary>
    public void Replace(scoped ReadOnlySpan<byte> value)
    {
        TermBlock block = Source;
        Pass(block);
        Weigh(-1, block.Value(found));
        Weigh(1, value);
        int before = cellBytes;
        Write(block.Middle(found), value);
        shift += cellBytes - before - (foundEnd - place);
        Next();
    }

    /// <summary>Removes the term found and moves past it.</summary>
    public void Remove()
    {
        TermBlock block = Source;
        Pass(block);
        Weigh(-1, block.Value(found));
        isRenumbered = true;
        Count--;
        Next();
    }

    /// <summary>
    /// Adds a term that was not found, before the one that follows it; false, with nothing changed, if it lacks the block's
    /// prefix or suffix.
    /// </summary>
    public bool TryAdd(scoped ReadOnlySpan<byte> term, scoped ReadOnlySpan<byte> value)
    {
        TermBlock block = Source;
        int common = block.Prefix.Length + block.Suffix.Length;
        if (term.Length < common || !term.StartsWith(block.Prefix) || !term.EndsWith(block.Suffix))
            return false;
        Pass(block);
        Weigh(1, value);
        isRenumbered = true;
        Count++;
        Write(term[block.Prefix.Length..^block.Suffix.Length], value);
        return true;
    }

    /// <summary>
    /// Returns the edited block, which must have terms; valid until the next <see cref="Begin"/>, the only call that may follow.
    /// </summary>
    public ReadOnlySpan<byte> Finish()
    {
        Debug.Assert(Count > 0, "a block has terms");
        TermBlock block = Source;
        Copy(sourceBytes);
        LocateGroups(block);
        int table = GroupBytes, start = TermBlock.HeaderBytes + table + block.Prefix.Length + block.Suffix.Length;
        Grow(ref output, start + cellBytes, 0);
        BinaryPrimitives.WriteUInt16LittleEndian(output, checked((ushort)Count));
        output[TermBlock.PrefixOffset] = (byte)block.Prefix.Length;
        output[TermBlock.SuffixOffset] = (byte)block.Suffix.Length;
        BinaryPrimitives.WriteUInt32LittleEndian(
            output.AsSpan(TermBlock.WeightOffset), (uint)Math.Min(weighs ?? Weight(), uint.MaxValue));
        for (int i = 0; i < table / sizeof(ushort); i++)
            BinaryPrimitives.WriteUInt16LittleEndian(output.AsSpan(TermBlock.HeaderBytes + (sizeof(ushort) * i)), groups[i]);
        block.Prefix.CopyTo(output.AsSpan(TermBlock.HeaderBytes + table));
        block.Suffix.CopyTo(output.AsSpan(TermBlock.HeaderBytes + table + block.Prefix.Length));
        cells.AsSpan(0, cellBytes).CopyTo(output.AsSpan(start));
        return output.AsSpan(0, start + cellBytes);
    }

    /// <summary>Appends all terms as edited to a list. Only <see cref="Begin"/> may follow.</summary>
    public void CopyTo(List<TermItem> items, ByteArena bytes)
    {
        TermBlock block = Source;
        Copy(sourceBytes);
        for (int at = 0; at < cellBytes;)
        {
            at = TermBlock.Read(cells.AsSpan(0, cellBytes), at, out TermPlace term);
            int length = block.LengthOf(term);
            Span<byte> room = bytes.Reserve(length + term.ValueBytes, out int start);
            block.Prefix.CopyTo(room);
            cells.AsSpan(term.Start, term.MiddleBytes).CopyTo(room[block.Prefix.Length..]);
            block.Suffix.CopyTo(room[(block.Prefix.Length + term.MiddleBytes)..]);
            cells.AsSpan(term.Start + term.MiddleBytes, term.ValueBytes).CopyTo(room[length..]);
            items.Add(new TermItem(start, length, start + length, term.ValueBytes));
        }
    }

    /// <summary>Compares a term with another, both without the prefix.</summary>
    private static int Compare(TermBlock block, TermPlace term, scoped ReadOnlySpan<byte> other)
    {
        ReadOnlySpan<byte> middle = block.Middle(term);
        if (other.Length < middle.Length)
            return middle.SequenceCompareTo(other);
        int order = middle.SequenceCompareTo(other[..middle.Length]);
        return order != 0 ? order : block.Suffix.SequenceCompareTo(other[middle.Length..]);
    }

    /// <summary>Copies everything before the term found, which makes its group known.</summary>
    private void Pass(TermBlock block)
    {
        if (!isRenumbered)
            MoveGroups(block, Math.Min(index, block.Count - 1) >> TermBlock.GroupBits);
        Copy(place);
    }

    private void Next()
    {
        Debug.Assert(foundEnd > place, "4: a term was found");
        copied = place = foundEnd;
        index++;
    }

    private void Copy(int end)
    {
        Debug.Assert(end >= copied && end <= sourceBytes, "2: the source is copied once, in order");
        int length = end - copied;
        Grow(ref cells, cellBytes + length, cellBytes);
        source.AsSpan(copied, length).CopyTo(cells.AsSpan(cellBytes));
        cellBytes += length;
        copied = end;
    }

    private void Write(scoped ReadOnlySpan<byte> middle, scoped ReadOnlySpan<byte> value)
    {
        Grow(ref cells, cellBytes + TermBlock.MaxHeadBytes + middle.Length + value.Length, cellBytes);
        cellBytes += TermBlock.WriteHead(cells.AsSpan(cellBytes), middle.Length, value.Length);
        middle.CopyTo(cells.AsSpan(cellBytes));
        cellBytes += middle.Length;
        value.CopyTo(cells.AsSpan(cellBytes));
        cellBytes += value.Length;
    }

    private void Weigh(int sign, scoped ReadOnlySpan<byte> value)
    {
        if (weight is not null)
            weighs += sign * weight(value);
    }

    /// <summary>Computes the total weight of a block that does not store it.</summary>
    private long Weight()
    {
        long sum = 0;
        for (int at = 0; at < cellBytes && weight is not null;)
        {
            at = TermBlock.Read(cells.AsSpan(0, cellBytes), at, out TermPlace term);
            sum += weight(cells.AsSpan(term.Start + term.MiddleBytes, term.ValueBytes));
        }

        return sum;
    }

    /// <summary>Sets the start of groups up to <paramref name="last"/>, which only moved by the changes before them.</summary>
    private void MoveGroups(TermBlock block, int last)
    {
        for (; knownGroups < last; knownGroups++)
            SetGroup(knownGroups, block.Group(knownGroups + 1) - block.First + shift);
    }

    /// <summary>Sets the start of the remaining groups; after terms were added or removed, by counting terms.</summary>
    private void LocateGroups(TermBlock block)
    {
        int all = GroupBytes / sizeof(ushort);
        if (!isRenumbered)
        {
            MoveGroups(block, all);
            return;
        }

        knownGroups = Math.Min(knownGroups, all);
        ReadOnlySpan<byte> bytes = cells.AsSpan(0, cellBytes);
        int at = knownGroups == 0 ? 0 : groups[knownGroups - 1];
        while (knownGroups < all)
        {
            for (int i = 0; i < 1 << TermBlock.GroupBits; i++)
                at = TermBlock.Read(bytes, at, out _);
            SetGroup(knownGroups++, at);
        }
    }

    private void SetGroup(int group, int start)
    {
        Debug.Assert(start > (group == 0 ? 0 : groups[group - 1]), "3: groups start at ascending places");
        if (group >= groups.Length)
            Array.Resize(ref groups, groups.Length * 2);
        groups[group] = checked((ushort)start);
    }

    private static void Grow(ref byte[] buffer, int needed, int used)
    {
        if (needed <= buffer.Length)
            return;
        byte[] larger = new byte[Math.Max(needed, buffer.Length * 2)];
        buffer.AsSpan(0, used).CopyTo(larger);
        buffer = larger;
    }
}
