namespace Treepie.Linq;

/// <summary>A query as text, and how its rows are read.</summary>
internal sealed record TranslatedQuery(RqlStatement Statement, RowReader Rows);
