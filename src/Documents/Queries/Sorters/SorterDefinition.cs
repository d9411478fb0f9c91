namespace Treepie.Queries;

/// <summary>
/// A sorter stored in a database: the order that <c>order by custom(Field, 'Name')</c> names. See <see cref="DatabaseSorters"/>.
/// </summary>
/// <param name="Name">1 to 256 letters, digits, <c>_</c>, <c>-</c> and dots; not case-sensitive.</param>
/// <param name="Code">
/// A JSON object. <c>{"Values": ["Low", "Medium", "High"]}</c> orders by the position of the value in the list, without regard to
/// case; other values follow in the order of their texts (<c>"Others": "First"</c> puts them first).
/// <c>{"Language": "sv"}</c> orders texts as readers of that language expect, <c>"Numbers": true</c> by the numbers in them
/// (<c>a2</c> before <c>a10</c>), <c>"Accents": false</c> without regard to accents.
/// </param>
public sealed record SorterDefinition(string Name, string Code);
