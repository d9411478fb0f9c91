namespace Treepie.Kinds;

/// <summary>The base of the results of commands on related data, such as attachments and counters.</summary>
public abstract record KindResult;
