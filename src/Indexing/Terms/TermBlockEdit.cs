using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Changes one <see cref="TermBlock"/> in ascending order of terms. The bytes between two changes are copied without
/// decoding them, so the cost depends on the number of changes, not of terms. A term without the block's prefix and suffix
/// is refused; the caller must then rebuild the block from its terms (<see cref="CopyTo"/>). Reusable for one block after
/// another. Invariants:
/// 1. Changes come in ascending order of terms: index and place never decrease.
/// 2. copied ≤ place ≤ sourceBytes: the source before <c>copied</c> is in the cells, or was removed.
/// 3. Known groups start at ascending places.
/// 4. Replace and Remove follow a Find that returned true.
/// </summary>
/// <param name="weight">Weight of a term by its value; null if terms have none.</param>
internal sealed class TermBlockEdit(TermWeight? weight)
{
    private byte[] _source = new byte[TermBlock.MaxBytes];
    private byte[] _cells = new byte[2 * TermBlock.MaxBytes];
    private byte[] _output = new byte[2 * TermBlock.MaxBytes];

    /// <summary>Start of each group but the first; the first <see cref="_knownGroups"/> are known.</summary>
    private ushort[] _groups = new ushort[(TermBlock.MaxBytes >> TermBlock.GroupBits) + 1];
    private int _knownGroups;
    private int _sourceBytes;
    private int _cellBytes;

    /// <summary>End of the source bytes that were copied or removed.</summary>
    private int _copied;

    /// <summary>Number of bytes by which cells after the last change have moved relative to the source.</summary>
    private int _shift;

    /// <summary>
    /// The term found last, or the first one after the term looked up: its index, its place in the source, and its location.
    /// </summary>
    private int _index;
    private int _place;
    private TermPlace _found;
    private int _foundEnd;

    /// <summary>Whether terms were added or removed, which shifts later terms between groups.</summary>
    private bool _isRenumbered;
    private long? _weighs;

    /// <summary>Number of terms.</summary>
    public int Count { get; private set; }

    /// <summary>Length of the block in bytes with the changes so far.</summary>
    public int Bytes
    {
        get
        {
            TermBlock block = Source;
            return TermBlock.HeaderBytes + GroupBytes + block.Prefix.Length + block.Suffix.Length + _cellBytes + _sourceBytes
                - _copied;
        }
    }

    /// <summary>The value of the term found; valid until the next <see cref="Begin"/>.</summary>
    public ReadOnlySpan<byte> Value => Source.Value(_found);

    private TermBlock Source => new(_source.AsSpan(0, _sourceBytes));

    private int GroupBytes => Count == 0 ? 0 : sizeof(ushort) * ((Count - 1) >> TermBlock.GroupBits);

    /// <summary>Starts editing a block.</summary>
    public void Begin(ReadOnlySpan<byte> block)
    {
        if (_source.Length < block.Length)
            _source = new byte[Math.Max(block.Length, _source.Length * 2)];
        block.CopyTo(_source);
        _sourceBytes = block.Length;
        TermBlock own = Source;
        Count = own.Count;
        _weighs = own.Weight;
        _copied = _place = own.First;
        _index = _shift = _cellBytes = _knownGroups = 0;
        _isRenumbered = false;
    }

    /// <summary>Finds a term, which must be after the previous one; returns whether it exists.</summary>
    public bool Find(scoped ReadOnlySpan<byte> term)
    {
        TermBlock block = Source;
        if (_index == block.Count)
            return false;
        if (!term.StartsWith(block.Prefix))
        {
            if (term.SequenceCompareTo(block.Prefix) > 0)
                (_index, _place) = (block.Count, _sourceBytes);
            return false;
        }

        term = term[block.Prefix.Length..];
        int current = _index >> TermBlock.GroupBits, low = current, high = (block.Count - 1) >> TermBlock.GroupBits;
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
            (_index, _place) = (low << TermBlock.GroupBits, block.Group(low));
        for (; _index < block.Count; _index++, _place = _foundEnd)
        {
            _foundEnd = block.Read(_place, out _found);
            int order = Compare(block, _found, term);
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
        Weigh(-1, block.Value(_found));
        Weigh(1, value);
        Debug.Assert(_index < block.Count && _foundEnd > _place, "4: a term was found");
        int before = _cellBytes;
        Write(block.Middle(_found), value);
        _shift += _cellBytes - before - (_foundEnd - _place);
        Next();
    }

    /// <summary>Removes the term found and moves past it.</summary>
    public void Remove()
    {
        Debug.Assert(Count > 0 && _foundEnd > _place, "4: a term was found");
        TermBlock block = Source;
        Pass(block);
        Weigh(-1, block.Value(_found));
        _isRenumbered = true;
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
        _isRenumbered = true;
        Count++;
        Write(term[block.Prefix.Length..^block.Suffix.Length], value);
        return true;
    }

    /// <summary>
    /// Returns the edited block, which must have terms; valid until the next <see cref="Begin"/>, which is the only call
    /// that may follow.
    /// </summary>
    public ReadOnlySpan<byte> Finish()
    {
        Debug.Assert(Count > 0, "a block has terms");
        TermBlock block = Source;
        Copy(_sourceBytes);
        LocateGroups(block);
        int table = GroupBytes, start = TermBlock.HeaderBytes + table + block.Prefix.Length + block.Suffix.Length;
        Grow(ref _output, start + _cellBytes, 0);
        BinaryPrimitives.WriteUInt16LittleEndian(_output, checked((ushort)Count));
        _output[TermBlock.PrefixOffset] = (byte)block.Prefix.Length;
        _output[TermBlock.SuffixOffset] = (byte)block.Suffix.Length;
        BinaryPrimitives.WriteUInt32LittleEndian(
            _output.AsSpan(TermBlock.WeightOffset), (uint)Math.Min(_weighs ?? Weight(), uint.MaxValue));
        for (int i = 0; i < table / sizeof(ushort); i++)
            BinaryPrimitives.WriteUInt16LittleEndian(_output.AsSpan(TermBlock.HeaderBytes + (sizeof(ushort) * i)), _groups[i]);
        block.Prefix.CopyTo(_output.AsSpan(TermBlock.HeaderBytes + table));
        block.Suffix.CopyTo(_output.AsSpan(TermBlock.HeaderBytes + table + block.Prefix.Length));
        _cells.AsSpan(0, _cellBytes).CopyTo(_output.AsSpan(start));
        Debug.Assert(_knownGroups == table / sizeof(ushort), "3: each group but the first has a start");
        return _output.AsSpan(0, start + _cellBytes);
    }

    /// <summary>Appends all terms of the edited block to a list. Only <see cref="Begin"/> may be called next.</summary>
    public void CopyTo(List<TermItem> items, ByteArena bytes)
    {
        Debug.Assert(_copied <= _sourceBytes, "2: the source is copied once, in order");
        TermBlock block = Source;
        Copy(_sourceBytes);
        for (int at = 0; at < _cellBytes;)
        {
            at = TermBlock.Read(_cells.AsSpan(0, _cellBytes), at, out TermPlace term);
            int length = block.LengthOf(term);
            Span<byte> room = bytes.Reserve(length + term.ValueBytes, out int start);
            block.Prefix.CopyTo(room);
            _cells.AsSpan(term.Start, term.MiddleBytes).CopyTo(room[block.Prefix.Length..]);
            block.Suffix.CopyTo(room[(block.Prefix.Length + term.MiddleBytes)..]);
            _cells.AsSpan(term.Start + term.MiddleBytes, term.ValueBytes).CopyTo(room[length..]);
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

    /// <summary>Copies everything before the term found; afterwards the start of its group is known.</summary>
    private void Pass(TermBlock block)
    {
        if (!_isRenumbered)
            MoveGroups(block, Math.Min(_index, block.Count - 1) >> TermBlock.GroupBits);
        Copy(_place);
    }

    private void Next()
    {
        Debug.Assert(_foundEnd > _place, "4: a term was found");
        _copied = _place = _foundEnd;
        _index++;
    }

    private void Copy(int end)
    {
        Debug.Assert(end >= _copied && end <= _sourceBytes, "2: the source is copied once, in order");
        int length = end - _copied;
        Grow(ref _cells, _cellBytes + length, _cellBytes);
        _source.AsSpan(_copied, length).CopyTo(_cells.AsSpan(_cellBytes));
        _cellBytes += length;
        _copied = end;
    }

    private void Write(scoped ReadOnlySpan<byte> middle, scoped ReadOnlySpan<byte> value)
    {
        Grow(ref _cells, _cellBytes + TermBlock.MaxHeadBytes + middle.Length + value.Length, _cellBytes);
        _cellBytes += TermBlock.WriteHead(_cells.AsSpan(_cellBytes), middle.Length, value.Length);
        middle.CopyTo(_cells.AsSpan(_cellBytes));
        _cellBytes += middle.Length;
        value.CopyTo(_cells.AsSpan(_cellBytes));
        _cellBytes += value.Length;
    }

    private void Weigh(int sign, scoped ReadOnlySpan<byte> value)
    {
        if (weight is not null)
            _weighs += sign * weight(value);
    }

    /// <summary>Computes the total weight of a block that does not store it.</summary>
    private long Weight()
    {
        long sum = 0;
        for (int at = 0; at < _cellBytes && weight is not null;)
        {
            at = TermBlock.Read(_cells.AsSpan(0, _cellBytes), at, out TermPlace term);
            sum += weight(_cells.AsSpan(term.Start + term.MiddleBytes, term.ValueBytes));
        }

        return sum;
    }

    /// <summary>
    /// Sets the starts of groups up to <paramref name="last"/>, which changed only by the shift of the changes before them.
    /// </summary>
    private void MoveGroups(TermBlock block, int last)
    {
        for (; _knownGroups < last; _knownGroups++)
            SetGroup(_knownGroups, block.Group(_knownGroups + 1) - block.First + _shift);
    }

    /// <summary>Sets the starts of the remaining groups; if terms were added or removed, by counting terms.</summary>
    private void LocateGroups(TermBlock block)
    {
        int all = GroupBytes / sizeof(ushort);
        if (!_isRenumbered)
        {
            MoveGroups(block, all);
            return;
        }

        _knownGroups = Math.Min(_knownGroups, all);
        ReadOnlySpan<byte> bytes = _cells.AsSpan(0, _cellBytes);
        int at = _knownGroups == 0 ? 0 : _groups[_knownGroups - 1];
        while (_knownGroups < all)
        {
            for (int i = 0; i < 1 << TermBlock.GroupBits; i++)
                at = TermBlock.Read(bytes, at, out _);
            SetGroup(_knownGroups++, at);
        }
    }

    private void SetGroup(int group, int start)
    {
        Debug.Assert(start > (group == 0 ? 0 : _groups[group - 1]), "3: groups start at ascending places");
        if (group >= _groups.Length)
            Array.Resize(ref _groups, _groups.Length * 2);
        _groups[group] = checked((ushort)start);
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
