using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>
/// A set of page numbers: a bit for each page (128 KiB for each 8 GiB of file), which grows with the pages there are.
/// </summary>
internal sealed class PageBits(long pages)
{
    private const int BitsPerWord = 64;

    private ulong[] _words = new ulong[(pages + BitsPerWord - 1) / BitsPerWord];

    /// <summary>Pages in it.</summary>
    public long Count { get; private set; }

    /// <summary>Pages it can hold without growing.</summary>
    public long Bound => (long)_words.Length * BitsPerWord;

    /// <summary>Its bits, lowest first.</summary>
    public ReadOnlySpan<ulong> Words => _words;

    /// <summary>The pages whose bits are set in these words.</summary>
    public static PageBits Of(ulong[] words)
    {
        var bits = new PageBits(0) { _words = words };
        foreach (ulong word in words)
            bits.Count += BitOperations.PopCount(word);
        return bits;
    }

    public bool Contains(long page) => (ulong)page < (ulong)Bound && (_words[page / BitsPerWord] & Bit(page)) != 0;

    /// <summary>Adds a page; false if it was there.</summary>
    public bool Add(long page)
    {
        if (page >= Bound)
            Array.Resize(ref _words, (int)Math.Max((page / BitsPerWord) + 1, _words.Length + (_words.Length / 4)));
        ref ulong word = ref _words[page / BitsPerWord];
        if ((word & Bit(page)) != 0)
            return false;

        word |= Bit(page);
        Count++;
        return true;
    }

    /// <summary>Adds pages side by side.</summary>
    public void Add(PageRun run)
    {
        for (long page = run.First; page < run.First + run.Pages; page++)
            Add(page);
    }

    /// <summary>Takes pages side by side out.</summary>
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

    /// <summary>The first page of the set from a number on; -1 where there is none.</summary>
    public long Next(long page)
    {
        for (long index = page / BitsPerWord; index < _words.Length; index++, page = index * BitsPerWord)
        {
            ulong word = _words[index] & (ulong.MaxValue << (int)(page % BitsPerWord));
            if (word != 0)
                return (index * BitsPerWord) + BitOperations.TrailingZeroCount(word);
        }

        return -1;
    }

    /// <summary>Adds pages by their bits; false where that is beyond the bound.</summary>
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
