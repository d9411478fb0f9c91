using System.Globalization;
using System.Text;
using Treepie.Indexing.Plans;

namespace Treepie.Queries.Plans;

/// <summary>
/// A plan on one line, for logs: <c>sort title [10] (and [91] (term Country [1204], range Freight [512]))</c>, where the brackets
/// contain the number of entries each step returned.
/// </summary>
internal static class PlanText
{
    /// <summary>The maximum length, in characters; a plan with a thousand conditions needs no more.</summary>
    private const int MostCharacters = 2_000;

    public static string Of(PlanNode plan)
    {
        var text = new StringBuilder();
        Append(text, plan);
        return text.Length <= MostCharacters ? text.ToString() : text.ToString(0, MostCharacters) + "…";
    }

    private static void Append(StringBuilder text, PlanNode node)
    {
        if (text.Length > MostCharacters)
            return;

        // Labels are left out: they may contain terms, and so values of documents, which must not get into logs.
        text.Append(node.Operation);
        if (node.Field is not null)
            text.Append(' ').Append(node.Field);
        text.Append(CultureInfo.InvariantCulture, $" [{node.RowsOut}]");
        for (int i = 0; i < node.Children.Count; i++)
        {
            text.Append(i == 0 ? " (" : ", ");
            Append(text, node.Children[i]);
        }

        if (node.Children.Count > 0)
            text.Append(')');
    }
}
