namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>Removes an elided article and its apostrophe, as in <c>l'avion</c>.</summary>
internal static class Elision
{
    public static void Cut(StemWord word, string[] articles)
    {
        int apostrophe = word.Text.IndexOfAny('\'', '\u2019');
        if (apostrophe <= 0 || apostrophe + 1 >= word.Length)
            return;

        foreach (string article in articles)
        {
            if (word.Text[..apostrophe].SequenceEqual(article))
            {
                word.CutStart(apostrophe + 1);
                return;
            }
        }
    }
}
