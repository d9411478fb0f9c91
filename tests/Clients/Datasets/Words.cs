namespace Treepie.Clients.Tests.Datasets;

/// <summary>
/// Whether a text holds a word, seen without any analyzer: the word with nothing of a word beside it. Where an apostrophe, full
/// stop or the like joins it to more letters, analyzers differ; a test that meets such a place has chosen its word badly and
/// fails.
/// </summary>
internal static class Words
{
    private const string Joiners = "'’.:·_";

    public static bool Contains(string? text, string word)
    {
        bool found = false;
        bool doubtful = false;
        for (int at = 0; text is not null && (at = text.IndexOf(word, at, StringComparison.OrdinalIgnoreCase)) >= 0; at++)
        {
            (bool before, bool joinedBefore) = Side(text, at - 1, -1);
            (bool after, bool joinedAfter) = Side(text, at + word.Length, +1);
            if (before || after)
                continue;

            found |= !joinedBefore && !joinedAfter;
            doubtful |= joinedBefore || joinedAfter;
        }

        Assert.True(
            found || !doubtful, $"Whether '{word}' is a word of this text depends on the analyzer; choose another: {text}");
        return found;
    }

    private static (bool IsWord, bool IsJoined) Side(string text, int at, int step)
    {
        if (at < 0 || at >= text.Length)
            return (false, false);

        int beyond = at + step;
        bool joined = Joiners.Contains(text[at]) && beyond >= 0 && beyond < text.Length && char.IsLetterOrDigit(text[beyond]);
        return (char.IsLetterOrDigit(text[at]), joined);
    }
}
