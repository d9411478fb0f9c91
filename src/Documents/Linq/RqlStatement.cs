using System.Text.Json;

namespace Treepie.Linq;

/// <summary>A query as text, with its parameters.</summary>
/// <param name="Text">RQL.</param>
/// <param name="Parameters">A JSON object of parameters, by name without <c>$</c>.</param>
public sealed record RqlStatement(string Text, JsonElement Parameters)
{
    /// <summary>The text, and behind it the parameters.</summary>
    public override string ToString() =>
        Parameters.ValueKind == JsonValueKind.Object && Parameters.EnumerateObject().Any()
            ? $"{Text} // {Parameters.GetRawText()}"
            : Text;
}
