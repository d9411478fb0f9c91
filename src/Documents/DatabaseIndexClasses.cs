using System.Diagnostics.CodeAnalysis;
using Treepie.IndexClasses;
using Treepie.Indexes;
using Treepie.Linq;
using Treepie.Sessions;

namespace Treepie;

/// <summary>Indexes as classes, put and asked.</summary>
public static class DatabaseIndexClasses
{
    /// <summary>
    /// Defines indexes by their classes. All are checked first: where one cannot be, none is put. What an index was before goes
    /// on answering until the new one has caught up; the same definition again changes nothing.
    /// </summary>
    /// <param name="database">Where. Indexes that compute need <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="session">How objects become documents: collections, and names of members.</param>
    /// <param name="indexes">The indexes.</param>
    /// <exception cref="NotSupportedException">An expression has no text of the same meaning; nothing was changed.</exception>
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

    /// <summary>As above, for objects that are read by reflection, or as the database's options say.</summary>
    /// <exception cref="NotSupportedException">An expression has no text of the same meaning; nothing was changed.</exception>
    /// <exception cref="InvalidIndexDefinitionException">A definition is not valid; nothing was changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static void Deploy(this Database database, params IEnumerable<IndexClass> indexes)
    {
        ArgumentNullException.ThrowIfNull(database);
        database.Deploy(database.DefaultSession, indexes);
    }

    /// <summary>A query of an index, in LINQ: over documents, or over what the index keeps of them.</summary>
    public static IDocumentQueryable<T> Query<T, TIndex>(this DocumentSession session)
        where T : class
        where TIndex : IndexClass, new()
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.Query<T>(NameOf<TIndex>.Value);
    }

    /// <summary>As above.</summary>
    public static IDocumentQueryable<T> Query<T, TIndex>(this IDocumentSession session)
        where T : class
        where TIndex : IndexClass, new()
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.Query<T>(NameOf<TIndex>.Value);
    }

    /// <summary>As above.</summary>
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
