namespace Treepie.Linq;

/// <summary>
/// The state of translating a query: its paths and parameters. Created for each execution, so that captured variables have their
/// current values.
/// </summary>
internal sealed class Translation : IDisposable
{
    /// <param name="session">The session, which knows the ids and JSON of documents.</param>
    /// <param name="documentType">The type of the documents.</param>
    /// <param name="computes">Whether the index is made by queries, which compute fields too.</param>
    public Translation(IQuerySession session, Type documentType, bool computes)
    {
        Paths = new PathTranslator(session, documentType);
        Parameters = new ParameterBag(session.Json);
        Conditions = new ConditionTranslator(Paths, Parameters, computes);
        Methods = new RqlMethodTranslator(Conditions);
    }

    public PathTranslator Paths { get; }

    public ParameterBag Parameters { get; }

    public ConditionTranslator Conditions { get; }

    public RqlMethodTranslator Methods { get; }

    /// <summary>The part of the conditions to be evaluated on documents; null: none.</summary>
    public ElementCheck? Rest { get; set; }

    public void Dispose() => Parameters.Dispose();
}
