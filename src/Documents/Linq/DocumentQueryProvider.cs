using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// Supports the operators of <see cref="Queryable"/>, for queries held as <see cref="IQueryable{T}"/>: each call changes the
/// model in the same way as the operator of <see cref="IDocumentQueryable{T}"/>.
/// </summary>
internal sealed class DocumentQueryProvider : IQueryProvider
{
    public static DocumentQueryProvider Instance { get; } = new();

    public IQueryable CreateQuery(Expression expression) =>
        throw new NotSupportedException(
            "A query is made with session.Query<T>() and the operators that are typed. There is no query of an unknown type.");

    public IQueryable<TElement> CreateQuery<TElement>(Expression expression)
    {
        (IModelQueryable source, MethodCallExpression call) = Parts(expression);
        QueryModel model = source.Model;
        string name = call.Method.Name;
        QueryModel changed = name switch
        {
            "Where" when Lambda(call) is { Parameters.Count: 1 } predicate => model.Where(predicate),
            "OrderBy" when call.Arguments.Count == 2 => model.OrderBy(Lambda(call), descending: false, isFirst: true),
            "OrderByDescending" when call.Arguments.Count == 2 => model.OrderBy(Lambda(call), descending: true, isFirst: true),
            "ThenBy" when call.Arguments.Count == 2 => model.OrderBy(Lambda(call), descending: false, isFirst: false),
            "ThenByDescending" when call.Arguments.Count == 2 => model.OrderBy(Lambda(call), descending: true, isFirst: false),
            "Select" when Lambda(call) is { Parameters.Count: 1 } selector => model.Select(selector),
            "Distinct" when call.Arguments.Count == 1 => model.Distinct(),
            "DistinctBy" when call.Arguments.Count == 2 => model.DistinctBy(Lambda(call)),
            "Skip" => model.Page(Math.Max(0, Count(call)), long.MaxValue),
            "Take" when Interpreter.ValueOf(call.Arguments[1]) is int count => model.Page(0, Math.Max(0, count)),
            _ => throw new NotSupportedException(AdviceFor(name)),
        };
        return new DocumentQueryable<TElement>(changed);
    }

    public object? Execute(Expression expression)
    {
        (IModelQueryable source, MethodCallExpression call) = Parts(expression);
        string name = call.Method.Name;
        if (name is "Sum" or "Min" or "Max" or "Average")
            return call.Arguments.Count switch
            {
                1 => QueryRun.Aggregate(source.Model, name, source.ElementType),
                2 when Unquoted(call.Arguments[1]) is LambdaExpression member =>
                    QueryRun.Aggregate(source.Model.Select(member), name, member.ReturnType),
                _ => throw new NotSupportedException(AdviceFor(name)),
            };
        return call.Arguments.Count switch
        {
            1 => source.Execute(name),
            2 when name is "ElementAt" or "ElementAtOrDefault" && Interpreter.ValueOf(call.Arguments[1]) is int place =>
                source.Changed(source.Model.Page(ResultRows.Place(place, name), long.MaxValue))
                    .Execute(name == "ElementAt" ? "First" : "FirstOrDefault"),
            2 when name == "All" && Unquoted(call.Arguments[1]) is LambdaExpression all =>
                source.Changed(source.Model.WhereNot(all)).Execute("Any") is false,
            2 when name is not "Contains" && Unquoted(call.Arguments[1]) is LambdaExpression predicate =>
                source.Changed(source.Model.Where(predicate)).Execute(name),
            _ => throw new NotSupportedException(AdviceFor(call.Method.Name)),
        };
    }

    // null only if TResult allows it
    public TResult Execute<TResult>(Expression expression) => (TResult)Execute(expression)!;

    /// <summary>Returns advice on what to write instead of an unsupported operator.</summary>
    public static string AdviceFor(string name) => $"The query cannot translate '{name}'. " + name switch
    {
        "GroupBy" =>
            "Call it on the IDocumentQueryable<T> that session.Query<T>() returns, followed by Select; or count and sum up with "
                + "AggregateBy.",
        "Join" or "GroupJoin" => "Load what documents refer to with Include, and Load in the same session.",
        "SelectMany" => "Select the list, and take it apart after ToListAsync().",
        "Sum" or "Min" or "Max" or "Average" => "Give it the member, 'query.Sum(x => x.Member)', or compute it of what "
            + "ToListAsync() gives.",
        "Reverse" => "Turn the order around, with OrderByDescending.",
        "Contains" => "Ask for the member: 'query.Any(x => x.Id == id)'.",
        _ => "Call it after ToListAsync().",
    };

    private static (IModelQueryable Source, MethodCallExpression Call) Parts(Expression expression)
    {
        ArgumentNullException.ThrowIfNull(expression);
        return expression is MethodCallExpression { Arguments: [ConstantExpression { Value: IModelQueryable source }, ..] } call
            ? (source, call)
            : throw new NotSupportedException("This query is not made by session.Query<T>() and the operators of LINQ.");
    }

    private static LambdaExpression Lambda(MethodCallExpression call) =>
        Unquoted(call.Arguments[1]) as LambdaExpression ?? throw new NotSupportedException(AdviceFor(call.Method.Name));

    private static Expression Unquoted(Expression expression) =>
        expression is UnaryExpression { NodeType: ExpressionType.Quote } quote ? quote.Operand : expression;

    private static int Count(MethodCallExpression call) =>
        Interpreter.ValueOf(call.Arguments[1]) is int count
            ? count
            : throw new NotSupportedException(AdviceFor(call.Method.Name));
}
