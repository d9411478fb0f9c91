using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Edits a <see cref="TextBlock"/> on its bitmaps, so that changing a few entries is cheap. Reusable for one block after
/// another. Invariants: 1. Places are 0 to Count; each place above 0 names one distinct text. 2. Every entry has exactly one
/// place.
/// </summary>
internal sealed class TextBlockEditor
{
    private const int Words = TextBlock.Entries / 64;

    /// <summary>
    /// Bitmaps may take this many bytes per entry with a value, plus <see cref="FreeBytes"/>. If values are sparser, chunks
    /// are smaller.
    /// </summary>
    private const int MaxBytesOfEntry = 2;

    private const int FreeBytes = 64;

    private readonly byte[] _texts = new byte[TextBlock.MaxBytes];
    private readonly int[] _ends = new int[TextBlock.MaxTexts + 1];
    private readonly ulong[] _planes = new ulong[TextBlock.MaxBits * Words];
    private readonly ulong[] _sorted = new ulong[TextBlock.MaxBits * Words];
    private readonly ulong[] _members = new ulong[(TextBlock.MaxTexts + 1) * Words];
    private readonly int[] _order = new int[TextBlock.MaxTexts];
    private readonly Comparison<int> _byText;
    private int _last;

    public TextBlockEditor() => _byText = (x, y) => TextAt(x).SequenceCompareTo(TextAt(y));

    /// <summary>Number of distinct texts, including those no longer used by any entry.</summary>
    public int Count { get; private set; }

    /// <summary>Starts editing without values.</summary>
    public void Clear()
    {
        (Count, _last) = (0, 0);
        Array.Clear(_planes);
    }

    /// <summary>Starts editing with the values of a block.</summary>
    public void Load(TextBlock block)
    {
        Clear();
        for (int place = 1; place <= block.Count; place++)
            Add(block.TextAt(place));
        ReadOnlySpan<ulong> own = MemoryMarshal.Cast<byte, ulong>(block.Planes);
        for (int plane = 0; plane < block.Bits; plane++)
            own.Slice(plane * block.Words, block.Words).CopyTo(_planes.AsSpan(plane * Words));
    }

    /// <summary>Sets the text of an entry; false, with nothing changed, if there are too many texts.</summary>
    public bool TrySet(int entry, ReadOnlySpan<byte> text)
    {
        if (_last == 0 || !TextAt(_last).SequenceEqual(text))
        {
            _last = 1;
            while (_last <= Count && !TextAt(_last).SequenceEqual(text))
                _last++;
            if (_last > Count && (Count == TextBlock.MaxTexts || !Fits(text)))
            {
                _last = 0;
                return false;
            }

            if (_last > Count)
                Add(text);
        }

        Debug.Assert(_last > 0 && _last <= Count, "1: a place names a text");
        SetPlace(entry, _last);
        return true;
    }

    /// <summary>Removes the value of an entry.</summary>
    public void Remove(int entry) => SetPlace(entry, 0);

    /// <summary>The text of an entry; false if it has none.</summary>
    public bool TryGet(int entry, out ReadOnlySpan<byte> text)
    {
        Debug.Assert((uint)entry < TextBlock.Entries, "the entry is of the block");
        int place = 0;
        for (int plane = 0; plane < TextBlock.MaxBits; plane++)
            place |= (int)(_planes[(plane * Words) + (entry >> 6)] >> entry & 1) << plane;
        text = place == 0 ? default : TextAt(place);
        return place > 0;
    }

    /// <summary>
    /// Writes the block with its texts in order and without unused ones, and returns its length in bytes; 0 if no entry has
    /// a value, -1 if the block would be too long or chunks smaller.
    /// </summary>
    public int Encode(Span<byte> output)
    {
        int used = Gather(out int words, out int entries);
        if (used == 0)
            return 0;

        Span<int> places = _order.AsSpan(0, used);
        places.Sort(_byText);
        int textBytes = 0;
        foreach (int place in places)
            textBytes += TextAt(place).Length;
        int bits = TextBlock.BitsOf(used),
            planeBytes = sizeof(ulong) * words * bits,
            start = TextBlock.HeaderBytes + (sizeof(ushort) * used);
        int length = start + textBytes + planeBytes;
        if (length > TextBlock.MaxBytes || planeBytes > (MaxBytesOfEntry * entries) + FreeBytes)
            return -1;

        Debug.Assert(used <= TextBlock.MaxTexts && words is > 0 and <= Words, "1: places fit their bits");
        Debug.Assert(entries >= used, "2: each text that is written has an entry");
        Array.Clear(_sorted);
        output[0] = (byte)used;
        output[1] = (byte)words;
        for (int i = 0, end = 0; i < used; i++)
        {
            ReadOnlySpan<byte> text = TextAt(places[i]);
            text.CopyTo(output[(start + end)..]);
            end += text.Length;
            BinaryPrimitives.WriteUInt16LittleEndian(output[(TextBlock.HeaderBytes + (sizeof(ushort) * i))..], (ushort)end);
            for (int plane = 0; plane < bits; plane++)
            {
                for (int word = 0; word < words && ((i + 1) >> plane & 1) != 0; word++)
                    _sorted[(plane * words) + word] |= _members[(places[i] * Words) + word];
            }
        }

        MemoryMarshal.AsBytes(_sorted.AsSpan(0, bits * words)).CopyTo(output[(start + textBytes)..]);
        return length;
    }

    /// <summary>Finds the entries of each text; returns the number of texts in use.</summary>
    private int Gather(out int words, out int entries)
    {
        int used = 0;
        (words, entries) = (0, 0);
        for (int place = 1; place <= Count; place++)
        {
            int before = entries;
            for (int word = 0; word < Words; word++)
            {
                ulong mine = ulong.MaxValue;
                for (int plane = 0; plane < TextBlock.MaxBits; plane++)
                    mine &= (place >> plane & 1) != 0 ? _planes[(plane * Words) + word] : ~_planes[(plane * Words) + word];
                _members[(place * Words) + word] = mine;
                entries += BitOperations.PopCount(mine);
                words = mine == 0 ? words : Math.Max(words, word + 1);
            }

            if (entries > before)
                _order[used++] = place;
        }

        Debug.Assert(entries <= TextBlock.Entries, "2: every entry has one place");
        return used;
    }

    private bool Fits(ReadOnlySpan<byte> text) =>
        TextBlock.HeaderBytes + (sizeof(ushort) * (Count + 1)) + _ends[Count] + text.Length <= TextBlock.MaxBytes;

    private void Add(ReadOnlySpan<byte> text)
    {
        text.CopyTo(_texts.AsSpan(_ends[Count]));
        Debug.Assert(Count < TextBlock.MaxTexts, "1: places fit their bits");
        _ends[Count + 1] = _ends[Count] + text.Length;
        Count++;
    }

    private ReadOnlySpan<byte> TextAt(int place) => _texts.AsSpan(_ends[place - 1].._ends[place]);

    private void SetPlace(int entry, int place)
    {
        Debug.Assert((uint)place <= (uint)Count && (uint)entry < TextBlock.Entries, "1: a place names a text");
        ulong bit = 1UL << entry;
        for (int plane = 0; plane < TextBlock.MaxBits; plane++)
        {
            ref ulong word = ref _planes[(plane * Words) + (entry >> 6)];
            word = (place >> plane & 1) != 0 ? word | bit : word & ~bit;
        }
    }
}
