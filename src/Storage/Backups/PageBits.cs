using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>A set of page numbers: one bit per page (128 KiB per 8 GiB of file). Grows as needed.</summary>
internal sealed class PageBits(long pages)
{
    private const int BitsPerWord = 64;

    private ulong[] _words = new ulong[(pages + BitsPerWord - 1) / BitsPerWord];

    /// <summary>The number of pages in the set.</summary>
    public long Count { get; private set; }

    /// <summary>The number of pages it can hold without growing.</summary>
    public long Bound => (long)_words.Length * BitsPerWord;

    /// <summary>The bits, lowest first.</summary>
    public ReadOnlySpan<ulong> Words => _words;

    /// <summary>Creates a set from the bits of words, which it takes over.</summary>
    public static PageBits Of(ulong[] words)
    {
        var bits = new PageBits(0) { _words = words };
        foreach (ulong word in words)
            bits.Count += BitOperations.PopCount(word);
        return bits;
    }

    public bool Contains(long page) => (ulong)page < (ulong)Bound && (_words[page / BitsPerWord] & Bit(page)) != 0;

    /// <summary>Adds a page. Returns false if it is already in the set.</summary>
    public bool Add(long page)
    {
        Debug.Assert(page >= 0, "no page has a negative number");
        if (page >= Bound)
            Array.Resize(ref _words, (int)Math.Max((page / BitsPerWord) + 1, _words.Length + (_words.Length / 4)));
        ref ulong word = ref _words[page / BitsPerWord];
        if ((word & Bit(page)) != 0)
            return false;

        word |= Bit(page);
        Count++;
        return true;
    }

    /// <summary>Adds consecutive pages.</summary>
    public void Add(PageRun run)
    {
        for (long page = run.First; page < run.First + run.Pages; page++)
            Add(page);
    }

    /// <summary>Removes consecutive pages.</summary>
    public void Remove(PageRun run)
    {
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            if (!Contains(page))
                continue;

            _words[page / BitsPerWord] &= ~Bit(page);
            Count--;
        }
    }

    /// <summary>Returns the first page of the set at or after a number, or -1 if there is none.</summary>
    public long Next(long page)
    {
        Debug.Assert(page >= 0, "no page has a negative number");
        for (long index = page / BitsPerWord; index < _words.Length; index++, page = index * BitsPerWord)
        {
            ulong word = _words[index] & (ulong.MaxValue << (int)(page % BitsPerWord));
            if (word != 0)
                return (index * BitsPerWord) + BitOperations.TrailingZeroCount(word);
        }

        return -1;
    }

    /// <summary>Adds pages given as bits. Returns false if they lie beyond the bound.</summary>
    public bool TryLoad(long first, ReadOnlySpan<byte> bits)
    {
        Span<byte> room = MemoryMarshal.AsBytes(_words.AsSpan());
        if (first < 0 || first % 8 != 0 || (first / 8) + bits.Length > room.Length)
            return false;

        room = room.Slice((int)(first / 8), bits.Length);
        for (int i = 0; i < bits.Length; i++)
        {
            Count += BitOperations.PopCount((uint)(bits[i] & ~room[i]));
            room[i] |= bits[i];
        }

        return true;
    }

    private static ulong Bit(long page) => 1UL << (int)(page % BitsPerWord);
}
