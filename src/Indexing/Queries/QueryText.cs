using System.Text;

namespace Treepie.Indexing.Queries;

/// <summary>Serializes condition and order to a text that is equal for equal queries. Not for display.</summary>
internal static class QueryText
{
    public static string Of(SearchRequest request)
    {
        var text = new StringBuilder();
        Append(text, request.Query, 0);
        foreach (SortKey key in request.Sort)
            text.Append(" by ").Append(key with { Custom = null }).Append(key.Custom?.Name);
        return text.ToString();
    }

    private static void Append(StringBuilder text, IndexQuery query, int depth)
    {
        text.Append(query.GetType().Name).Append('(');
        switch (query)
        {
            case var _ when depth > 256:
                break; // rejected when it is compiled
            case AndQuery all:
                AppendAll(text, all.Clauses, depth);
                break;
            case OrQuery any:
                AppendAll(text, any.Clauses, depth);
                break;
            case NotQuery not:
                Append(text, not.Clause, depth + 1);
                break;
            case BoostQuery boost:
                text.Append(boost.Factor).Append(' ');
                Append(text, boost.Clause, depth + 1);
                break;
            case InQuery list:
                text.Append(list.Field).AppendJoin(' ', list.Values);
                break;
            case AllInQuery list:
                text.Append(list.Field).AppendJoin(' ', list.Values);
                break;
            default:
                text.Append(query);
                break;
        }

        text.Append(')');
    }

    private static void AppendAll(StringBuilder text, IReadOnlyList<IndexQuery> clauses, int depth)
    {
        foreach (IndexQuery clause in clauses)
            Append(text, clause, depth + 1);
    }
}
