namespace Treepie.Kinds;

/// <summary>What a command about something beside documents did. See the records made of it.</summary>
public abstract record KindResult;
