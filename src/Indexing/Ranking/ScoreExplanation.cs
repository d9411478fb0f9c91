using System.Globalization;
using System.Text;

namespace Treepie.Indexing.Ranking;

/// <summary>Why an entry has its score: what a condition gave, and what that is made of.</summary>
/// <param name="Score">What it gave; 0 if it does not match.</param>
/// <param name="What">Which condition or number it is.</param>
/// <param name="Parts">What it is made of.</param>
public sealed record ScoreExplanation(float Score, string What, IReadOnlyList<ScoreExplanation> Parts)
{
    /// <summary>The tree, a line for each node, two blanks deeper at each level.</summary>
    public override string ToString()
    {
        var text = new StringBuilder();
        Append(text, 0);
        return text.ToString();
    }

    private void Append(StringBuilder text, int level)
    {
        text.Append(' ', level * 2)
            .Append(Score.ToString("R", CultureInfo.InvariantCulture))
            .Append(" = ")
            .Append(What)
            .Append('\n');
        foreach (ScoreExplanation part in Parts)
            part.Append(text, level + 1);
    }
}
