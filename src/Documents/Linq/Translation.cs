namespace Treepie.Linq;

/// <summary>
/// What is needed while a query becomes text: its paths and parameters. Made anew for each run, so that captured variables count
/// as they are then.
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

    /// <summary>What of the conditions is looked at in documents; null: nothing.</summary>
    public ElementCheck? Rest { get; set; }

    public void Dispose() => Parameters.Dispose();
}
