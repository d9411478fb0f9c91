namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>What Spanish, Portuguese and Italian do alike with what stands before a suffix.</summary>
internal static class RomanceSuffixes
{
    /// <summary>Takes off the longest of the endings that the word has, if it lies in R2; whether it did.</summary>
    public static bool CutInR2(StemWord word, params ReadOnlySpan<string> endings)
    {
        if (word.Longest(endings) is not { } ending || !word.EndsIn(ending, word.R2))
            return false;
        word.Cut(ending);
        return true;
    }

    /// <summary>
    /// What stands before an adverb's <c>-amente</c>: <c>iv</c> (with <c>at</c> before it) or one of the endings.
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
