using System.Diagnostics.CodeAnalysis;
using Treepie.IndexClasses;
using Treepie.Indexes;
using Treepie.Linq;
using Treepie.Sessions;

namespace Treepie;

/// <summary>Deploys and queries indexes defined as classes.</summary>
public static class DatabaseIndexClasses
{
    /// <summary>
    /// Deploys indexes defined as classes. All are validated first: if one is not valid, none is deployed. A changed index keeps
    /// answering with its old definition until the new one has caught up; an unchanged definition has no effect.
    /// </summary>
    /// <param name="database">The database. Indexes that compute values require <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="session">Determines the names of collections and JSON members.</param>
    /// <param name="indexes">The indexes.</param>
    /// <exception cref="NotSupportedException">An expression cannot be converted to text; nothing was changed.</exception>
    /// <exception cref="InvalidIndexDefinitionException">A definition is not valid; nothing was changed.</exception>
    public static void Deploy(this Database database, SessionOptions session, params IEnumerable<IndexClass> indexes)
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(session);
        ArgumentNullException.ThrowIfNull(indexes);
        IndexDefinition[] definitions = [.. indexes.Select(index => index.ToDefinition(session))];
        foreach (IndexDefinition definition in definitions)
            database.Indexes.Check(definition);
        foreach (IndexDefinition definition in definitions)
            database.Indexes.Put(definition);
    }

    /// <summary>
    /// Deploys indexes defined as classes, with the database's default serialization, or by reflection if it has none.
    /// </summary>
    /// <exception cref="NotSupportedException">An expression cannot be converted to text; nothing was changed.</exception>
    /// <exception cref="InvalidIndexDefinitionException">A definition is not valid; nothing was changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static void Deploy(this Database database, params IEnumerable<IndexClass> indexes)
    {
        ArgumentNullException.ThrowIfNull(database);
        database.Deploy(database.DefaultSession, indexes);
    }

    /// <summary>Starts a LINQ query of an index, over its documents or its map or reduce results.</summary>
    public static IDocumentQueryable<T> Query<T, TIndex>(this DocumentSession session)
        where T : class
        where TIndex : IndexClass, new()
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.Query<T>(NameOf<TIndex>.Value);
    }

    /// <summary>Starts a LINQ query of an index, over its documents or its map or reduce results.</summary>
    public static IDocumentQueryable<T> Query<T, TIndex>(this IDocumentSession session)
        where T : class
        where TIndex : IndexClass, new()
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.Query<T>(NameOf<TIndex>.Value);
    }

    /// <summary>Starts a LINQ query of an index, over its documents or its map or reduce results.</summary>
    public static IDocumentQueryable<T> Query<T, TIndex>(this IAsyncDocumentSession session)
        where T : class
        where TIndex : IndexClass, new()
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.Query<T>(NameOf<TIndex>.Value);
    }

    private static class NameOf<TIndex>
        where TIndex : IndexClass, new()
    {
        public static readonly string Value = new TIndex().Name;
    }
}
