namespace Treepie.Linq;

/// <summary>
/// The state of translating a query: its paths and parameters. Created for each execution, so that captured variables have their
/// current values.
/// </summary>
internal sealed class Translation : IDisposable
{
    public Translation(IQuerySession session, Type documentType)
    {
        Paths = new PathTranslator(session, documentType);
        Parameters = new ParameterBag(session.Json);
        Conditions = new ConditionTranslator(Paths, Parameters);
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
