using System.Numerics;
using Treepie.Storage.Format;

namespace Treepie.Storage.FreeSpace;

/// <summary>The pages one bitmap page speaks of: which are in use, and which can be given out. A page that is neither is held by someone who still sees it.</summary>
internal sealed class PageGroup
{
    /// <summary>Words of a bitmap page.</summary>
    public const int Words = PageLayout.ContentBytes / sizeof(ulong);

    private const int BitsPerWord = 64;

    private readonly ulong[] _live = new ulong[Words];
    private readonly ulong[] _free = new ulong[Words];
    private int _firstFreeWord;

    /// <summary>Pages that can be given out.</summary>
    public int FreeCount { get; private set; }

    /// <summary>A bit for each page in use.</summary>
    public ReadOnlySpan<ulong> Live => _live;

    /// <summary>Takes the bits of pages in use; all others from one index up to another are free.</summary>
    public void Load(ReadOnlySpan<ulong> live, int firstPage, int endPage)
    {
        live.CopyTo(_live);
        FreeCount = 0;
        for (int i = 0; i < Words; i++)
        {
            int start = i * BitsPerWord;
            ulong known = Below(endPage - start) & ~Below(firstPage - start);
            _live[i] &= known;
            _free[i] = known & ~_live[i];
            FreeCount += BitOperations.PopCount(_free[i]);
        }
    }

    public bool IsLive(int index) => IsSet(_live, index);

    public bool IsFree(int index) => IsSet(_free, index);

    /// <summary>Marks a page as in use; false if it was.</summary>
    public bool SetLive(int index)
    {
        ClearFree(index);
        bool was = IsSet(_live, index);
        _live[index / BitsPerWord] |= 1UL << index;
        return !was;
    }

    /// <summary>Marks a page as not in use, and not to be given out; false if it was not in use.</summary>
    public bool ClearLive(int index)
    {
        bool was = IsSet(_live, index);
        _live[index / BitsPerWord] &= ~(1UL << index);
        return was;
    }

    /// <summary>Lets a page be given out; false if it could be.</summary>
    public bool SetFree(int index)
    {
        if (IsSet(_free, index))
            return false;

        _free[index / BitsPerWord] |= 1UL << index;
        FreeCount++;
        _firstFreeWord = Math.Min(_firstFreeWord, index / BitsPerWord);
        return true;
    }

    /// <summary>Lets a page not be given out; false if it could not be.</summary>
    public bool ClearFree(int index)
    {
        if (!IsSet(_free, index))
            return false;

        _free[index / BitsPerWord] &= ~(1UL << index);
        FreeCount--;
        return true;
    }

    /// <summary>The first page that can be given out, or -1.</summary>
    public int FindFree()
    {
        for (int word = _firstFreeWord; word < Words; word++)
        {
            if (_free[word] == 0)
                continue;

            _firstFreeWord = word;
            return (word * BitsPerWord) + BitOperations.TrailingZeroCount(_free[word]);
        }

        _firstFreeWord = Words;
        return -1;
    }

    /// <summary>The first of a number of pages side by side that can be given out, or -1.</summary>
    public int FindRun(int length)
    {
        int run = 0;
        for (int index = _firstFreeWord * BitsPerWord; index < Words * BitsPerWord; index++)
        {
            if (index % BitsPerWord == 0 && _free[index / BitsPerWord] == 0)
            {
                run = 0;
                index += BitsPerWord - 1;
                continue;
            }

            run = IsSet(_free, index) ? run + 1 : 0;
            if (run == length)
                return index - length + 1;
        }

        return -1;
    }

    /// <summary>The highest page below an index that cannot be given out, or -1.</summary>
    public int FindLastNotFree(int below)
    {
        for (int index = below - 1; index >= 0; index--)
            if (!IsSet(_free, index))
                return index;
        return -1;
    }

    private static bool IsSet(ulong[] words, int index) => (words[index / BitsPerWord] & (1UL << index)) != 0;

    private static ulong Below(int bits) => bits <= 0 ? 0 : bits >= BitsPerWord ? ulong.MaxValue : (1UL << bits) - 1;
}
