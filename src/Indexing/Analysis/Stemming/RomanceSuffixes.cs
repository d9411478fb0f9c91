namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>The rules for endings before a suffix that Spanish, Portuguese and Italian have in common.</summary>
internal static class RomanceSuffixes
{
    /// <summary>Removes the longest of the endings that the word has, if it lies in R2; returns whether it did.</summary>
    public static bool CutInR2(StemWord word, params ReadOnlySpan<string> endings)
    {
        if (word.Longest(endings) is not { } ending || !word.EndsIn(ending, word.R2))
            return false;
        word.Cut(ending);
        return true;
    }

    /// <summary>
    /// Removes an ending before the <c>-amente</c> of an adverb: <c>iv</c> (with <c>at</c> before it) or one of the given
    /// endings.
    /// </summary>
    public static void CutBeforeAmente(StemWord word, params ReadOnlySpan<string> endings)
    {
        if (word.EndsWith("iv"))
        {
            if (CutInR2(word, "iv"))
                CutInR2(word, "at");
        }
        else
        {
            CutInR2(word, endings);
        }
    }
}
