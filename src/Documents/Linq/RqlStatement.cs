using System.Text.Json;

namespace Treepie.Linq;

/// <summary>The text of a query with its parameters.</summary>
/// <param name="Text">The query in RQL.</param>
/// <param name="Parameters">A JSON object with the values of the parameters, by name without <c>$</c>.</param>
public sealed record RqlStatement(string Text, JsonElement Parameters)
{
    /// <summary>Returns the text of the query, followed by its parameters.</summary>
    public override string ToString() =>
        Parameters.ValueKind == JsonValueKind.Object && Parameters.EnumerateObject().Any()
            ? $"{Text} // {Parameters.GetRawText()}"
            : Text;
}
