namespace Treepie.Storage.Maps;

/// <summary>Marks serializers that can read any bytes of their length, so that a reader may do so before it knows that they were not changed meanwhile.</summary>
internal interface IPlainSerializer;
