using System.Globalization;

namespace Treepie.Rql.Syntax;

/// <summary>One member of a path, with what stands in brackets after it.</summary>
/// <param name="Name">Name of the member.</param>
/// <param name="Elements">Brackets, in order; empty where there are none. <see cref="AllElements"/> is <c>[]</c>, else an
/// index.</param>
/// <param name="Quoted">Whether it was written in quotes.</param>
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
