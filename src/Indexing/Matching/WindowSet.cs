using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Matching;

/// <summary>
/// A set of entries of one window, as offsets 0 to 4,095, in the cheapest of four forms. Operators narrow and widen it in
/// place. Temporary state of one query, pooled by <see cref="QueryContext"/>.
/// </summary>
/// <remarks>
/// Invariants: 1. a list is ascending, without duplicates, and has 1 to <see cref="MaxListCount"/> members; 2. a set without
/// members has the form <see cref="WindowSetForm.Empty"/>, or <see cref="WindowSetForm.Bits"/> with no bit set after it was
/// narrowed.
/// </remarks>
internal sealed class WindowSet
{
    /// <summary>
    /// Maximum length of a list; larger sets are bitmaps. (512 bytes would hold 256 offsets, but bitmaps are combined 16
    /// words at a time.)
    /// </summary>
    public const int MaxListCount = 127;

    private readonly ulong[] _bits = new ulong[BitmapKernels.Words];
    private readonly ushort[] _offsets = new ushort[MaxListCount];
    private int _listCount;

    public WindowSetForm Form { get; private set; }

    /// <summary>Number of members.</summary>
    public int Count => Form switch
    {
        WindowSetForm.Empty => 0,
        WindowSetForm.List => _listCount,
        WindowSetForm.Bits => BitmapKernels.Count(_bits),
        _ => PostingWindow.Size,
    };

    public bool IsEmpty => Form switch
    {
        WindowSetForm.Empty => true,
        WindowSetForm.Bits => BitmapKernels.IsEmpty(_bits),
        _ => false,
    };

    /// <summary>The members of a list, ascending. Valid until the set changes.</summary>
    public Span<ushort> List => _offsets.AsSpan(0, _listCount);

    private ReadOnlySpan<byte> BitBytes => MemoryMarshal.AsBytes<ulong>(_bits);

    public void SetEmpty() => Form = WindowSetForm.Empty;

    public void SetFull() => Form = WindowSetForm.Full;

    public void SetOffsets(ReadOnlySpan<ushort> members)
    {
        if (members.IsEmpty)
        {
            Form = WindowSetForm.Empty;
        }
        else if (members.Length <= MaxListCount)
        {
            members.CopyTo(_offsets);
            _listCount = members.Length;
            Form = WindowSetForm.List;
        }
        else
        {
            Array.Clear(_bits);
            BitmapKernels.Set(_bits, members);
            Form = WindowSetForm.Bits;
        }
    }

    public void Add(ushort offset)
    {
        switch (Form)
        {
            case WindowSetForm.Full:
                return;
            case WindowSetForm.Bits:
                _bits[offset >> 6] |= 1UL << (offset & 63);
                return;
            case WindowSetForm.Empty:
                _listCount = 0;
                Form = WindowSetForm.List;
                break;
        }

        int place = OffsetKernels.LowerBound(List, offset);
        if (place < _listCount && _offsets[place] == offset)
            return;

        if (_listCount == MaxListCount)
        {
            ListToBits();
            Add(offset);
            return;
        }

        Debug.Assert(Form == WindowSetForm.List && _listCount < MaxListCount, "1: a list has room for another member");
        List[place..].CopyTo(_offsets.AsSpan(place + 1));
        _offsets[place] = offset;
        _listCount++;
    }

    public void SetBits(ReadOnlySpan<byte> bitmap)
    {
        Debug.Assert(bitmap.Length == BitmapKernels.Bytes, "the bitmap covers exactly one window");
        bitmap.CopyTo(MemoryMarshal.AsBytes(_bits.AsSpan()));
        Form = WindowSetForm.Bits;
    }

    /// <summary>Converts the set to a bitmap and returns its 64 words, which may be narrowed in place.</summary>
    public Span<ulong> ToBits()
    {
        switch (Form)
        {
            case WindowSetForm.Empty:
                Array.Clear(_bits);
                Form = WindowSetForm.Bits;
                break;
            case WindowSetForm.List:
                ListToBits();
                break;
            case WindowSetForm.Full:
                FullToBits();
                break;
        }

        return _bits;
    }

    public void Set(in PostingWindow window)
    {
        switch (window.Form)
        {
            case WindowSetForm.Empty: SetEmpty(); break;
            case WindowSetForm.List: SetOffsets(window.Offsets); break;
            case WindowSetForm.Bits: SetBits(window.Bitmap); break;
            default: SetFull(); break;
        }
    }

    public void Set(WindowSet other)
    {
        switch (other.Form)
        {
            case WindowSetForm.Empty: SetEmpty(); break;
            case WindowSetForm.List: SetOffsets(other.List); break;
            case WindowSetForm.Bits: SetBits(other.BitBytes); break;
            default: SetFull(); break;
        }
    }

    /// <summary>Combines the set with the entries of a window of a posting list.</summary>
    public void Combine(SetOperation operation, in PostingWindow window)
    {
        switch (window.Form)
        {
            case WindowSetForm.Empty: CombineNone(operation); break;
            case WindowSetForm.List: Combine(operation, window.Offsets); break;
            case WindowSetForm.Bits: Combine(operation, window.Bitmap); break;
            default: CombineAll(operation); break;
        }
    }

    /// <summary>Combines the set with another one.</summary>
    public void Combine(SetOperation operation, WindowSet other)
    {
        switch (other.Form)
        {
            case WindowSetForm.Empty: CombineNone(operation); break;
            case WindowSetForm.List: Combine(operation, other.List); break;
            case WindowSetForm.Bits: Combine(operation, other.BitBytes); break;
            default: CombineAll(operation); break;
        }
    }

    /// <summary>Combines the set with the 64 words of a bitmap.</summary>
    public void Combine(SetOperation operation, ReadOnlySpan<ulong> words) =>
        Combine(operation, MemoryMarshal.AsBytes(words));

    /// <summary>Combines the set with the empty set.</summary>
    public void CombineNone(SetOperation operation)
    {
        if (operation == SetOperation.And)
            SetEmpty();
    }

    private void CombineAll(SetOperation operation)
    {
        if (operation == SetOperation.Or)
            SetFull();
        else if (operation == SetOperation.AndNot)
            SetEmpty();
    }

    private void Combine(SetOperation operation, ReadOnlySpan<ushort> others)
    {
        switch (operation)
        {
            case SetOperation.And: AndOffsets(others); break;
            case SetOperation.Or: OrOffsets(others); break;
            default: AndNotOffsets(others); break;
        }
    }

    private void Combine(SetOperation operation, ReadOnlySpan<byte> bitmap)
    {
        Debug.Assert(bitmap.Length == BitmapKernels.Bytes, "the bitmap covers exactly one window");
        switch (operation)
        {
            case SetOperation.And: AndBits(bitmap); break;
            case SetOperation.Or: OrBits(bitmap); break;
            default: AndNotBits(bitmap); break;
        }
    }

    public bool Contains(int offset) => Form switch
    {
        WindowSetForm.Empty => false,
        WindowSetForm.List => List.BinarySearch((ushort)offset) >= 0,
        WindowSetForm.Bits => (_bits[offset >> 6] >> (offset & 63) & 1) != 0,
        _ => true,
    };

    /// <summary>Writes the members, ascending, to a span with room for them; returns how many there are.</summary>
    public int CopyTo(Span<ushort> members)
    {
        Debug.Assert(members.Length >= Count, "the buffer holds all members");
        switch (Form)
        {
            case WindowSetForm.Empty:
                return 0;
            case WindowSetForm.List:
                List.CopyTo(members);
                return _listCount;
            case WindowSetForm.Bits:
                return BitmapKernels.Decode(_bits, members);
            default:
                for (int i = 0; i < PostingWindow.Size; i++)
                    members[i] = (ushort)i;
                return PostingWindow.Size;
        }
    }

    /// <summary>
    /// Removes the members of a list that are in blocks (of 64) whose bound, multiplied by the margin, is below a threshold.
    /// </summary>
    public void Narrow(ReadOnlySpan<float> bounds, float threshold, float margin)
    {
        Debug.Assert(Form == WindowSetForm.List);
        Keep(OffsetKernels.Narrow(List, bounds, threshold, margin));
    }

    /// <summary>Writes the members as the 64 words of a bitmap.</summary>
    public void CopyWords(Span<ulong> words)
    {
        Debug.Assert(words.Length == BitmapKernels.Words, "each block gets a word");
        switch (Form)
        {
            case WindowSetForm.Bits:
                _bits.CopyTo(words);
                break;
            case WindowSetForm.Full:
                words.Fill(ulong.MaxValue);
                break;
            default:
                words.Clear();
                if (Form == WindowSetForm.List)
                    BitmapKernels.Set(words, List);
                break;
        }
    }

    private void AndOffsets(ReadOnlySpan<ushort> others)
    {
        switch (Form)
        {
            case WindowSetForm.List:
                Keep(SortedSets.Intersect(List, others));
                break;
            case WindowSetForm.Bits:
                Debug.Assert(others.Length <= MaxListCount, "a list of a page or a set is short (invariant 1)");
                others.CopyTo(_offsets);
                _listCount = others.Length;
                Form = WindowSetForm.List;
                Keep(OffsetKernels.Filter(List, _bits, wanted: true));
                break;
            case WindowSetForm.Full:
                SetOffsets(others);
                break;
        }
    }

    private void AndBits(ReadOnlySpan<byte> bitmap)
    {
        switch (Form)
        {
            case WindowSetForm.List:
                Keep(OffsetKernels.Filter(List, MemoryMarshal.Cast<byte, ulong>(bitmap), wanted: true));
                break;
            case WindowSetForm.Bits:
                BitmapKernels.Combine<AndOperation>(_bits, bitmap);
                break;
            case WindowSetForm.Full:
                SetBits(bitmap);
                break;
        }
    }

    private void OrOffsets(ReadOnlySpan<ushort> others)
    {
        switch (Form)
        {
            case WindowSetForm.Empty:
                SetOffsets(others);
                break;
            case WindowSetForm.List when _listCount + others.Length <= MaxListCount:
                _listCount = OffsetKernels.Unite(_offsets, _listCount, others);
                break;
            case WindowSetForm.List:
                ListToBits();
                BitmapKernels.Set(_bits, others);
                break;
            case WindowSetForm.Bits:
                BitmapKernels.Set(_bits, others);
                break;
        }
    }

    private void OrBits(ReadOnlySpan<byte> bitmap)
    {
        switch (Form)
        {
            case WindowSetForm.Empty:
                SetBits(bitmap);
                break;
            case WindowSetForm.List:
                SetBits(bitmap);
                BitmapKernels.Set(_bits, List);
                break;
            case WindowSetForm.Bits:
                BitmapKernels.Combine<OrOperation>(_bits, bitmap);
                break;
        }
    }

    private void AndNotOffsets(ReadOnlySpan<ushort> others)
    {
        switch (Form)
        {
            case WindowSetForm.List:
                Keep(SortedSets.Except(List, others));
                break;
            case WindowSetForm.Full:
                FullToBits();
                BitmapKernels.Clear(_bits, others);
                break;
            case WindowSetForm.Bits:
                BitmapKernels.Clear(_bits, others);
                break;
        }
    }

    private void AndNotBits(ReadOnlySpan<byte> bitmap)
    {
        switch (Form)
        {
            case WindowSetForm.List:
                Keep(OffsetKernels.Filter(List, MemoryMarshal.Cast<byte, ulong>(bitmap), wanted: false));
                break;
            case WindowSetForm.Full:
                FullToBits();
                BitmapKernels.Combine<AndNotOperation>(_bits, bitmap);
                break;
            case WindowSetForm.Bits:
                BitmapKernels.Combine<AndNotOperation>(_bits, bitmap);
                break;
        }
    }

    private void Keep(int count)
    {
        Debug.Assert(Form == WindowSetForm.List && count >= 0 && count <= _listCount, "1: a list is narrowed, never widened");
        _listCount = count;
        if (count == 0)
            Form = WindowSetForm.Empty;
    }

    private void ListToBits()
    {
        Debug.Assert(Form == WindowSetForm.List && _listCount is > 0 and <= MaxListCount, "1: a list has members");
        Array.Clear(_bits);
        BitmapKernels.Set(_bits, List);
        Form = WindowSetForm.Bits;
    }

    private void FullToBits()
    {
        Debug.Assert(Form == WindowSetForm.Full, "only a full set becomes a bitmap of all entries");
        Array.Fill(_bits, ulong.MaxValue);
        Form = WindowSetForm.Bits;
    }
}
