using System.Globalization;
using System.Text;

namespace Treepie.Indexing.Ranking;

/// <summary>An explanation of a score: the contribution of a condition, and its components.</summary>
/// <param name="Score">The contribution; 0 if the condition does not match.</param>
/// <param name="What">The condition or number that is explained.</param>
/// <param name="Parts">The components.</param>
public sealed record ScoreExplanation(float Score, string What, IReadOnlyList<ScoreExplanation> Parts)
{
    /// <summary>Returns the tree as text, with a line for each node, indented by two spaces per level.</summary>
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
