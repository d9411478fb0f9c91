using System.Diagnostics;
using System.Numerics;

namespace Treepie.Storage.Paging;

/// <summary>
/// The free single frames. The lowest is allocated first, so that used frames gather at the low end and whole arenas at the
/// high end become free. Not thread-safe.
/// </summary>
/// <remarks>
/// Invariants. 1. <c>_bits</c> has a set bit for each free frame. 2. <c>_words</c> has a set bit for each nonzero word of
/// <c>_bits</c>. 3. All words of <c>_words</c> below <c>_hint</c> are zero.
/// </remarks>
internal sealed class SingleFrames
{
    private const int BitsPerWord = 64;
    private const int WordsPerArena = Scratch.ArenaFrames / BitsPerWord;

    private ulong[] _bits = new ulong[WordsPerArena];
    private ulong[] _words = new ulong[1];

    /// <summary>All words of <see cref="_words"/> below this index are zero.</summary>
    private int _hint;

    /// <summary>Adds a free frame.</summary>
    public void Add(uint frame)
    {
        int word = (int)(frame / BitsPerWord);
        if (word >= _bits.Length)
            Array.Resize(ref _bits, Math.Max(((word / WordsPerArena) + 1) * WordsPerArena, 2 * _bits.Length));
        int summary = word / BitsPerWord;
        if (summary >= _words.Length)
            Array.Resize(ref _words, Math.Max(summary + 1, 2 * _words.Length));
        Debug.Assert((_bits[word] & (1UL << (int)(frame % BitsPerWord))) == 0, "1: a frame is free once");
        _bits[word] |= 1UL << (int)(frame % BitsPerWord);
        _words[summary] |= 1UL << (word % BitsPerWord);
        _hint = Math.Min(_hint, summary);
        Debug.Assert(_words.AsSpan(0, _hint).IndexOfAnyExcept(0UL) < 0, "3: the words below the hint are zero");
    }

    /// <summary>Removes the lowest free frame; false if there is none.</summary>
    public bool TryTake(out uint frame)
    {
        for (; _hint < _words.Length; _hint++)
        {
            if (_words[_hint] == 0)
                continue;

            int word = (_hint * BitsPerWord) + BitOperations.TrailingZeroCount(_words[_hint]);
            Debug.Assert(_bits[word] != 0, "2: the summary has words that are not zero");
            int bit = BitOperations.TrailingZeroCount(_bits[word]);
            Clear(word, 1UL << bit);
            frame = (uint)((word * BitsPerWord) + bit);
            return true;
        }

        frame = 0;
        return false;
    }

    /// <summary>Removes all frames of an arena if all of them are free; otherwise none.</summary>
    public bool TryTakeArena(int arena)
    {
        Debug.Assert(arena >= 0, "there are no arenas before the first");
        int first = arena * WordsPerArena;
        if (first + WordsPerArena > _bits.Length || _bits.AsSpan(first, WordsPerArena).ContainsAnyExcept(ulong.MaxValue))
            return false;

        for (int word = first; word < first + WordsPerArena; word++)
            Clear(word, ulong.MaxValue);
        return true;
    }

    private void Clear(int word, ulong bits)
    {
        Debug.Assert((_bits[word] & bits) == bits, "1: only free frames are taken");
        _bits[word] &= ~bits;
        if (_bits[word] == 0)
            _words[word / BitsPerWord] &= ~(1UL << (word % BitsPerWord));
    }
}
