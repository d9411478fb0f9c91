using System.Linq.Expressions;
using Treepie.Store;

namespace Treepie.Linq;

/// <summary>The documents loaded by one row of a query, each read once. Not thread-safe.</summary>
internal sealed class LoadedDocuments(IQuerySession session, DatabaseSnapshot snapshot)
{
    private Dictionary<(Type Type, string Id), object?>? _documents;

    /// <summary>Returns whether a call is <see cref="RqlMethods.Load"/>.</summary>
    public static bool IsLoad(MethodCallExpression call) =>
        call.Method.DeclaringType == typeof(RqlMethods) && call.Method.Name == nameof(RqlMethods.Load);

    /// <summary>Returns whether an expression is a loaded document, or a member of one.</summary>
    public static bool IsOfLoaded(Expression expression) => expression switch
    {
        MethodCallExpression call => IsLoad(call),
        MemberExpression { Expression: { } owner } => IsOfLoaded(owner),
        UnaryExpression { NodeType: ExpressionType.Convert } convert => IsOfLoaded(convert.Operand),
        _ => false,
    };

    /// <summary>Loads an entity; null if the document does not exist.</summary>
    public object? Load(Type type, string? id)
    {
        if (string.IsNullOrEmpty(id))
            return null;
        _documents ??= [];
        if (!_documents.TryGetValue((type, id), out object? document))
            _documents[(type, id)] = document = session.Read(type, id, snapshot);
        return document;
    }
}
