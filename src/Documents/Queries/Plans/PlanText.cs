using System.Globalization;
using System.Text;
using Treepie.Indexing.Plans;

namespace Treepie.Queries.Plans;

/// <summary>
/// A plan on one line, for logs: <c>sort title [10] (and [91] (term Country [1204], range Freight [512]))</c>; in brackets the
/// entries each step handed on.
/// </summary>
internal static class PlanText
{
    /// <summary>Most characters; a plan of a thousand conditions tells nothing more.</summary>
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

        // A label may be a term, which is a value of somebody's document: the log has none.
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
