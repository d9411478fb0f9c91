using System.Buffers;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Treepie.Queries.Sources;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Filters;

/// <summary>
/// The condition of <c>filter</c>, evaluated on each document without a script. Supports conditions on a single array element:
/// <c>any(Lines as l, l.Product = $p and l.Amount > 3)</c>. Immutable, thread-safe.
/// </summary>
internal sealed class DocumentFilter
{
    private readonly Func<FilterScope, bool> _condition;
    private readonly int _names;

    private DocumentFilter(Func<FilterScope, bool> condition, int names) => (_condition, _names) = (condition, names);

    /// <summary>Returns the filter of a query, or null if it has none.</summary>
    /// <param name="query">The query.</param>
    /// <param name="condition">The condition, without what needs a script.</param>
    /// <param name="parameter">Returns the value of a parameter.</param>
    /// <exception cref="InvalidQueryException">The condition cannot be evaluated on documents.</exception>
    public static DocumentFilter? Of(
        RqlQuery query, Expression? condition, Func<ParameterExpression, JsonElement> parameter)
    {
        if (condition is null)
            return null;
        var builder = new FilterBuilder(query, parameter);
        return new DocumentFilter(builder.Condition(condition, isExact: false), builder.MostNames);
    }

    /// <summary>Whether a document passes the filter.</summary>
    /// <param name="source">The source, positioned on the document.</param>
    /// <param name="body">Writes what the filter sees.</param>
    /// <param name="buffer">A scratch buffer, which is overwritten.</param>
    /// <param name="time">The time of the query.</param>
    /// <exception cref="InvalidQueryException">A regular expression timed out.</exception>
    public bool Passes(
        ResultSource source, ResultBody body, ArrayBufferWriter<byte> buffer, ExaminationTime time)
    {
        time.Begin();
        buffer.ResetWrittenCount();
        body.Write(source, buffer);
        using var json = JsonDocument.Parse(buffer.WrittenMemory, new JsonDocumentOptions { MaxDepth = 1_024 });
        string id = Encoding.UTF8.GetString(source.Id);
        try
        {
            return _condition(new FilterScope(json.RootElement, id, _names, time));
        }
        catch (RegexMatchTimeoutException error)
        {
            throw new InvalidQueryException(
                $"A regular expression of 'filter' took more than {error.MatchTimeout.TotalMilliseconds:0} ms for document "
                    + $"'{id}'. Use one that goes back less, or write it after 'where'.");
        }
        finally
        {
            time.End();
        }
    }
}
