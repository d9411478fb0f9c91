using Treepie.Indexing.Queries;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds <c>fusion.rrf(c1, c2, … [, entries])</c> and <c>fusion.weighted(…)</c>, which merge the best hits of several searches.
/// <c>boost(c, n)</c> around a search sets its weight; a trailing number limits the entries taken from each search.
/// </summary>
internal sealed class FusionBinder(RqlQuery query, QueryParameters parameters, Func<Expression, IndexQuery> bind)
{
    /// <summary>Returns the fusion method that a call names, or null for other calls.</summary>
    public static FusionMethod? MethodOf(MethodExpression method) => method.Name.ToLowerInvariant() switch
    {
        "fusion.rrf" => FusionMethod.ReciprocalRank,
        "fusion.weighted" => FusionMethod.Weighted,
        _ => null,
    };

    public FusionQuery Bind(MethodExpression method, FusionMethod way)
    {
        List<Expression> arguments = [.. method.Arguments.Select(argument => argument.Value)];
        int window = FusionQuery.DefaultWindow;
        if (arguments.Count > 1 && arguments[^1] is LiteralExpression { Kind: LiteralKind.Number } or ParameterExpression)
        {
            window = parameters.Value(
                arguments[^1]) is { Kind: FieldValueKind.Long, Long: >= 1 and <= FusionQuery.MaxWindow and var wanted }
                ? (int)wanted
                : throw RqlErrors.At(
                    query.Text, arguments[^1].Position,
                    $"How many entries each search of '{method.Name}()' gives is a whole number from 1 to "
                        + $"{FusionQuery.MaxWindow:N0}.");
            arguments.RemoveAt(arguments.Count - 1);
        }

        if (arguments.Count is 0 or > FusionQuery.MaxClauses)
        {
            throw RqlErrors.At(
                query.Text, method.Position,
                $"'{method.Name}()' takes 1 to {FusionQuery.MaxClauses} searches: {method.Name}(search(Notes, 'fox'), "
                    + $"boost(vector.search(Embedding, $vector), 2)).");
        }

        return new FusionQuery([.. arguments.Select(Clause)], way, window);
    }

    private FusionClause Clause(Expression argument) =>
        bind(argument) is var bound && bound is BoostQuery boost
            ? new FusionClause(boost.Clause, boost.Factor)
            : new FusionClause(bound);
}
