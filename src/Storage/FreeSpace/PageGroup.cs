using System.Diagnostics;
using System.Numerics;
using Treepie.Storage.Format;

namespace Treepie.Storage.FreeSpace;

/// <summary>
/// The pages that one bitmap page covers: which are in use, and which are free. A page that is neither is held, because a
/// snapshot may still see it.
/// </summary>
/// <remarks>
/// Invariants. 1. No page is both in use and free. 2. <see cref="FreeCount"/> is the number of free pages. 3. No word below
/// <c>_firstFreeWord</c> has a free page. 4. There is no run of <c>_noRunOf</c> free pages or more.
/// </remarks>
internal sealed class PageGroup
{
    /// <summary>Number of words of a bitmap page.</summary>
    public const int Words = PageLayout.ContentBytes / sizeof(ulong);

    /// <summary>Number of pages covered by a word.</summary>
    public const int BitsPerWord = 64;

    private readonly ulong[] _live = new ulong[Words];
    private readonly ulong[] _free = new ulong[Words];
    private int _firstFreeWord;

    /// <summary>
    /// No run of this many free pages or more exists (invariant 4), so a fragmented group is scanned once per change.
    /// </summary>
    private int _noRunOf = int.MaxValue;

    /// <summary>Number of free pages.</summary>
    public int FreeCount { get; private set; }

    /// <summary>A bit for each page in use.</summary>
    public ReadOnlySpan<ulong> Live => _live;

    /// <summary>Sets the bits of pages in use; the other pages in [firstPage, endPage) are free.</summary>
    public void Load(ReadOnlySpan<ulong> live, int firstPage, int endPage)
    {
        Debug.Assert(firstPage <= endPage && endPage <= Words * BitsPerWord, "2: a group has no more pages than bits");
        live.CopyTo(_live);
        FreeCount = 0;
        _noRunOf = int.MaxValue;
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

    /// <summary>Marks a page as in use; returns false if it already was.</summary>
    public bool SetLive(int index)
    {
        ClearFree(index);
        bool was = IsSet(_live, index);
        _live[index / BitsPerWord] |= 1UL << index;
        return !was;
    }

    /// <summary>Marks a page as neither in use nor free; returns false if it was not in use.</summary>
    public bool ClearLive(int index)
    {
        bool was = IsSet(_live, index);
        _live[index / BitsPerWord] &= ~(1UL << index);
        return was;
    }

    /// <summary>Marks a page as free; returns false if it already was.</summary>
    public bool SetFree(int index)
    {
        Debug.Assert(!IsSet(_live, index), "1: a page in use is not free");
        if (IsSet(_free, index))
            return false;

        _free[index / BitsPerWord] |= 1UL << index;
        FreeCount++;
        _noRunOf = int.MaxValue;
        _firstFreeWord = Math.Min(_firstFreeWord, index / BitsPerWord);
        return true;
    }

    /// <summary>Marks a page as not free; returns false if it was not free.</summary>
    public bool ClearFree(int index)
    {
        if (!IsSet(_free, index))
            return false;

        _free[index / BitsPerWord] &= ~(1UL << index);
        FreeCount--;
        Debug.Assert(FreeCount >= 0, "2: free pages are counted once");
        return true;
    }

    /// <summary>Returns the first free page, or -1.</summary>
    public int FindFree()
    {
        for (int word = _firstFreeWord; word < Words; word++)
        {
            if (_free[word] == 0)
                continue;

            _firstFreeWord = word;
            Debug.Assert((_free[word] & _live[word]) == 0, "1: no page is both in use and free");
            return (word * BitsPerWord) + BitOperations.TrailingZeroCount(_free[word]);
        }

        Debug.Assert(FreeCount == 0, "3: free pages are not below the first word with one");
        _firstFreeWord = Words;
        return -1;
    }

    /// <summary>Returns the first page of the first run of this many free pages, or -1. Examines 64 pages at a time.</summary>
    public int FindRun(int length)
    {
        if (length > FreeCount || length >= _noRunOf)
            return -1;

        int run = 0; // length of the free run that ends where the word begins
        for (int word = _firstFreeWord; word < Words; word++)
        {
            ulong free = _free[word];
            int start = word * BitsPerWord;
            int head = BitOperations.TrailingZeroCount(~free);
            if (run + head >= length)
            {
                Debug.Assert(IsFree(start - run) && IsFree(start - run + length - 1), "2: a run consists of free pages");
                return start - run;
            }

            if (head == BitsPerWord)
            {
                run += BitsPerWord;
                continue;
            }

            if (length < BitsPerWord && StartsOfRuns(free, length) is var starts && starts != 0)
                return start + BitOperations.TrailingZeroCount(starts);
            run = BitOperations.LeadingZeroCount(~free);
        }

        _noRunOf = length;
        return -1;
    }

    /// <summary>Returns the highest page below an index that is not free, or -1.</summary>
    public int FindLastNotFree(int below)
    {
        for (int word = (below - 1) / BitsPerWord; below > 0 && word >= 0; word--)
        {
            ulong taken = ~_free[word] & Below(below - (word * BitsPerWord));
            if (taken != 0)
                return (word * BitsPerWord) + BitOperations.Log2(taken);
        }

        return -1;
    }

    /// <summary>
    /// Returns the bits at which a run of <paramref name="length"/> set bits begins. Each step doubles the known length, so
    /// it takes log2(length) steps.
    /// </summary>
    private static ulong StartsOfRuns(ulong bits, int length)
    {
        for (int known = 1; known < length && bits != 0;)
        {
            int step = Math.Min(known, length - known);
            bits &= bits >> step;
            known += step;
        }

        return bits;
    }

    private static bool IsSet(ulong[] words, int index) => (words[index / BitsPerWord] & (1UL << index)) != 0;

    private static ulong Below(int bits) => bits <= 0 ? 0 : bits >= BitsPerWord ? ulong.MaxValue : (1UL << bits) - 1;
}
