namespace Treepie.Linq;

/// <summary>The text of a query, and how its rows are read.</summary>
internal sealed record TranslatedQuery(RqlStatement Statement, RowReader Rows);
