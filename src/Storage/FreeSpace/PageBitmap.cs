using System.Numerics;

namespace Treepie.Storage.FreeSpace;

/// <summary>A bit for each page, growing as needed; beyond its end all bits are clear.</summary>
internal sealed class PageBitmap
{
    private const int BitsPerWord = 64;

    private ulong[] _words = [];

    /// <summary>Bits that are set.</summary>
    public long SetCount { get; private set; }

    /// <summary>Whether a bit is set.</summary>
    public bool this[long index] => index / BitsPerWord < _words.Length && (_words[index / BitsPerWord] & (1UL << (int)(index % BitsPerWord))) != 0;

    /// <summary>Sets a bit; false if it was set.</summary>
    public bool Set(long index)
    {
        Reserve(index + 1);
        ref ulong word = ref _words[index / BitsPerWord];
        ulong bit = 1UL << (int)(index % BitsPerWord);
        if ((word & bit) != 0)
            return false;

        word |= bit;
        SetCount++;
        return true;
    }

    /// <summary>Clears a bit; false if it was clear.</summary>
    public bool Clear(long index)
    {
        if (!this[index])
            return false;

        _words[index / BitsPerWord] &= ~(1UL << (int)(index % BitsPerWord));
        SetCount--;
        return true;
    }

    /// <summary>The first set bit at or after an index, or -1.</summary>
    public long Find(long from)
    {
        long word = from / BitsPerWord;
        if (word >= _words.Length)
            return -1;

        ulong bits = _words[word] & (ulong.MaxValue << (int)(from % BitsPerWord));
        while (bits == 0)
        {
            if (++word >= _words.Length)
                return -1;
            bits = _words[word];
        }

        return (word * BitsPerWord) + BitOperations.TrailingZeroCount(bits);
    }

    /// <summary>The first of a number of set bits side by side, or -1.</summary>
    public long FindRun(int length)
    {
        long start = Find(0);
        while (start >= 0)
        {
            long end = start + 1;
            while (end - start < length && this[end])
                end++;
            if (end - start >= length)
                return start;
            start = Find(end);
        }

        return -1;
    }

    /// <summary>Copies words into a buffer; words beyond the end are zero.</summary>
    public void CopyTo(long firstWord, Span<ulong> destination)
    {
        destination.Clear();
        if (firstWord < _words.Length)
            _words.AsSpan((int)firstWord, (int)Math.Min(destination.Length, _words.Length - firstWord)).CopyTo(destination);
    }

    /// <summary>Replaces words.</summary>
    public void CopyFrom(long firstWord, ReadOnlySpan<ulong> source)
    {
        Reserve((firstWord + source.Length) * BitsPerWord);
        for (int i = 0; i < source.Length; i++)
        {
            SetCount += BitOperations.PopCount(source[i]) - BitOperations.PopCount(_words[firstWord + i]);
            _words[firstWord + i] = source[i];
        }
    }

    /// <summary>Sets what another bitmap has clear, in a range; everything outside the range is clear afterwards.</summary>
    public void SetComplement(PageBitmap other, long from, long to)
    {
        var words = new ulong[(to + BitsPerWord - 1) / BitsPerWord];
        other.CopyTo(0, words);
        for (int i = 0; i < words.Length; i++)
            words[i] = ~words[i];
        if (to % BitsPerWord != 0)
            words[^1] &= ulong.MaxValue >> (int)(BitsPerWord - (to % BitsPerWord));
        words[0] &= ulong.MaxValue << (int)from;
        _words = words;
        SetCount = 0;
        foreach (ulong word in words)
            SetCount += BitOperations.PopCount(word);
    }

    private void Reserve(long bits)
    {
        long words = (bits + BitsPerWord - 1) / BitsPerWord;
        if (words > _words.Length)
            Array.Resize(ref _words, (int)Math.Max(words, _words.Length * 2L));
    }
}
