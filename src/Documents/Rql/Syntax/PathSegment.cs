using System.Globalization;

namespace Treepie.Rql.Syntax;

/// <summary>A member of a path, with the brackets after it.</summary>
/// <param name="Name">Name of the member.</param>
/// <param name="Elements">The brackets in order; empty if there are none. Each is <see cref="AllElements"/> for <c>[]</c>, or
/// an index.</param>
/// <param name="Quoted">Whether it was quoted.</param>
internal sealed record PathSegment(string Name, IReadOnlyList<int> Elements, bool Quoted)
{
    /// <summary><c>[]</c></summary>
    public const int AllElements = -1;

    public override string ToString() =>
        Elements.Count == 0
            ? Name
            : Name
                + string.Concat(
                    Elements.Select(e => e == AllElements ? "[]" : string.Create(CultureInfo.InvariantCulture, $"[{e}]")));
}
