using System.Diagnostics;
using System.Numerics;

namespace Treepie.Storage.Checks;

/// <summary>
/// A set of page numbers: one bit per page up to a bound, so its memory is known in advance (128 KiB per 8 GiB of file).
/// </summary>
internal sealed class PageSet(long pages)
{
    private const int BitsPerWord = 64;

    private readonly ulong[] _words = new ulong[(pages / BitsPerWord) + 1];

    /// <summary>The number of pages it can hold.</summary>
    public long Bound => pages;

    /// <summary>The number of pages in the set.</summary>
    public long Count { get; private set; }

    public bool Contains(long page) => (ulong)page < (ulong)pages && (_words[page / BitsPerWord] & Bit(page)) != 0;

    /// <summary>Adds a page. Returns false if it is already in the set or beyond the bound.</summary>
    public bool Add(long page)
    {
        if ((ulong)page >= (ulong)pages || Contains(page))
            return false;

        _words[page / BitsPerWord] |= Bit(page);
        Count++;
        return true;
    }

    /// <summary>Adds the pages of another set with the same bound.</summary>
    public void UnionWith(PageSet other)
    {
        Debug.Assert(other._words.Length >= _words.Length, "the other set knows all pages of this one");
        Count = 0;
        for (int i = 0; i < _words.Length; i++)
        {
            _words[i] |= other._words[i];
            Count += BitOperations.PopCount(_words[i]);
        }
    }

    private static ulong Bit(long page) => 1UL << (int)(page % BitsPerWord);
}
